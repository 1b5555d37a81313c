"""Taking the tags out of a text that may be HTML. For whole pages of the web, see `webpages`."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_HTML = re.compile(
    r"<(?:!doctype|html|body|div|p|h[1-6]|br|ul|ol|li|table|span|em|strong|pre|section)\b", re.I
)
_HIDDEN = frozenset({"script", "style", "noscript", "template", "head"})
_INLINE = frozenset({"a", "abbr", "b", "cite", "code", "em", "font", "i", "mark", "span", "strong"})


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden.append(tag)
        if tag not in _INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        if tag not in _INLINE:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def without_markup(text: str) -> str:
    """The words of a text, one line per block if it is HTML; plain text stays as it is."""
    if not _HTML.search(text):
        return text
    words = _Words()
    words.feed(text)
    words.close()
    lines = (" ".join(line.split()) for line in "".join(words.parts).split("\n"))
    return "\n".join(filter(None, lines))
