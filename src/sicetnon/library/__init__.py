"""What people import: the index, answers, the sample."""
