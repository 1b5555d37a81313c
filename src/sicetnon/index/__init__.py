"""The index: what is on disk, how it gets there, and how it is opened."""
