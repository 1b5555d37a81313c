"""What the pages show, as plain data: one question becomes one typed view."""
