"""Text analysis: from any text to the terms that are indexed and searched."""
