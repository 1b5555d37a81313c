"""Templates: how pages are made from them."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from sicetnon.report.wording import visible


def environment(package: str) -> Environment:
    """The templates of a package. All texts that they print are made visible, then escaped."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        # frees every text that a template prints of control characters
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def source(templates: Environment, name: str) -> str:
    """The text of a file beside the templates, such as a style sheet."""
    assert templates.loader
    return templates.loader.get_source(templates, name)[0]
