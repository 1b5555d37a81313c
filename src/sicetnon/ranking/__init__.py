"""What reorders a ranking: stages, each usable alone."""
