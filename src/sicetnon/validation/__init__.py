"""A run held against the rules of its task."""
