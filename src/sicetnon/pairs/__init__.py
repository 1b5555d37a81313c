"""Pairs of sentences (Touché 2022, task 1): candidates, coherence, strength, score."""
