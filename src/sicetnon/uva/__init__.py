"""The two systems of the University of Amsterdam (CLEF 2020)."""

ANALYSIS = "porter"
"""The analysis of their indexes: stop words are kept."""
