"""Systems, and stages that reorder or label a ranking; each stage can be used alone."""
