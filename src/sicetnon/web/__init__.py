"""The pages and the HTTP API: the functions that the command line calls, over one warm process."""
