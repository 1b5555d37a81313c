"""`python -m sicetnon`."""

from sicetnon.cli import program

program()
