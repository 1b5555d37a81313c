"""The library for people: the index, answers, the sample."""
