"""The files of the Touché tasks, one module a format: read tolerantly, written strictly."""
