"""Questions that compare: parser, comparison by rules, mentions."""
