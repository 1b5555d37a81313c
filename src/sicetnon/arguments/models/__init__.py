"""The debate model: its encoder, its classifiers, and Hugging Face classifiers in its place."""
