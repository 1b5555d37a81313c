"""The six task-years of Touché."""
