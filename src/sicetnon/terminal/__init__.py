"""What people see in a terminal: answers, tables, progress."""
