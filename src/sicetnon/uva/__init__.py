"""The two systems of the University of Amsterdam (CLEF 2020)."""
