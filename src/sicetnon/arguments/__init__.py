"""What a text does in a debate."""
