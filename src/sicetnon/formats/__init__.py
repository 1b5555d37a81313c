"""The files of the Touché tasks, one module per format: read tolerantly, written strictly."""
