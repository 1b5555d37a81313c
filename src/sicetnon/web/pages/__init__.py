"""Views of the pages as plain data: one question becomes one typed view."""
