"""The small model: encoder, windows, annotators, other people's models."""
