"""Arguments in texts: argumentativeness, credibility, sides, by rules and by a model."""
