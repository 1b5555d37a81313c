"""The learned ranker: features of arguments found for a question, two linear models, training."""
