"""An API key that does not show itself."""

from __future__ import annotations

import re
from html.entities import html5

from sicetnon.errors import UsageError

_SHORTEST = 4
HIDDEN = "***"


class ApiKey:
    """A key, or its absence (false). It prints as asterisks; only `reveal` gives it away.

    Args:
        service: The name of its service, for messages.
        key: The key; None or empty for none.

    Raises:
        UsageError: It cannot be a key. The message does not hold it.
    """

    def __init__(self, service: str, key: str | None):
        self.__key = (key or "").strip()
        if not self.__key.isascii() or not self.__key.isprintable() or " " in self.__key:
            raise UsageError(f"the API key of {service} holds white space or letters no key has")
        # one or two letters are no secret, and taking them out would spoil every text
        is_secret = len(self.__key) >= _SHORTEST
        self.__form = "".join(map(_spellings, self.__key)) if is_secret else r"(?!)"

    def reveal(self) -> str:
        """The key itself, for the request alone."""
        return self.__key

    def hide(self, text: str) -> str:
        """A text without the key, however it is escaped: in JSON, in an address, in HTML."""
        return re.sub(self.__form, HIDDEN, text, flags=re.IGNORECASE)

    def hide_bytes(self, data: bytes) -> bytes:
        """As `hide`."""
        return re.sub(self.__form.encode(), HIDDEN.encode(), data, flags=re.IGNORECASE)

    def __bool__(self) -> bool:
        return bool(self.__key)

    def __repr__(self) -> str:
        return f"ApiKey({HIDDEN})" if self else "ApiKey()"

    def __reduce__(self) -> str:
        raise TypeError("an API key is not stored")


def _spellings(letter: str) -> str:
    """A pattern of all spellings of an ASCII letter; escapes may be escaped themselves."""
    code = ord(letter)
    names = "|".join(name for name, text in html5.items() if text == letter and name[-1] == ";")
    named = f"|{names}" if names else ""
    return (
        rf"(?:\\{{0,8}}(?:{re.escape(letter)}|u00{code:02x})"
        rf"|%(?:25){{0,3}}{code:02x}"
        rf"|&(?:amp;){{0,3}}(?:#0{{0,6}}{code};?|#x0{{0,6}}{code:x};?{named}))"
    )
