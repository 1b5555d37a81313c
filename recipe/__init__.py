"""The recipe of the debate model: from data sets to one small file, a command a step."""
