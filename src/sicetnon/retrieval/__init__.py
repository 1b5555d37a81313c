"""Retrieval: weighting models, feedback, and the searcher over a local index."""
