"""The index: its files, writing and opening."""
