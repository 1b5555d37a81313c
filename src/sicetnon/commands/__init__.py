"""The commands, one per file: its arguments, one typed call, its output.

`add_arguments(parser)` describes a command and sets `command`, the function that runs it. That
function imports what is heavy, so that `--help` is quick.
"""
