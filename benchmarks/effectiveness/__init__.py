"""Effectiveness: scores of the systems on the judgments at hand."""
