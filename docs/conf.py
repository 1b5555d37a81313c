"""Settings of Sphinx, which builds the site: `make docs`."""

from __future__ import annotations

from sicetnon._version import VERSION

project = "Sic et Non"
author = "The Sic et Non developers"
project_copyright = author
version = release = VERSION

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"Sic et Non {VERSION}"
exclude_patterns = ["build"]

myst_enable_extensions = ["attrs_block"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
