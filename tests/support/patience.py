"""The one time limit of tests: it ends what hangs, and fails nothing because a machine is busy."""

HANGS = 300
"""Seconds that only what hangs takes, on a machine however busy."""
