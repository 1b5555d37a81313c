"""An index on a cluster beside the same index in a folder."""
