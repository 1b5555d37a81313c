"""Sentence pairs (Touché 2022, task 1): candidates, coherence, strength, worth."""
