"""Benchmarks: speed, effectiveness, and what they share."""
