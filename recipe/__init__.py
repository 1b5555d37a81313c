"""The recipe of the debate model: from the data sets to one small model, step by step."""
