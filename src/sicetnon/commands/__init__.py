"""The commands: which arguments each takes, and which function answers it.

What is heavy is imported by the function that answers, so that `--help` is quick.
"""
