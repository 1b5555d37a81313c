"""Views for terminals: answers, tables, progress."""
