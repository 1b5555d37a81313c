"""The same systems on an OpenSearch cluster: loading, searching, the same scores."""
