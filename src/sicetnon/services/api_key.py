"""An API key that does not show itself."""

from __future__ import annotations

import json
from urllib.parse import quote

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
        escaped = (self.__key, json.dumps(self.__key)[1:-1], quote(self.__key, safe=""))
        self.__forms = tuple(dict.fromkeys(escaped)) if is_secret else ()

    def reveal(self) -> str:
        """The key itself, for the request alone."""
        return self.__key

    def hide(self, text: str) -> str:
        """A text without the key."""
        for form in self.__forms:
            text = text.replace(form, HIDDEN)
        return text

    def hide_bytes(self, data: bytes) -> bytes:
        """As `hide`."""
        for form in self.__forms:
            data = data.replace(form.encode(), HIDDEN.encode())
        return data

    def __bool__(self) -> bool:
        return bool(self.__key)

    def __repr__(self) -> str:
        return f"ApiKey({HIDDEN})" if self else "ApiKey()"

    def __reduce__(self) -> str:
        raise TypeError("an API key is not stored")
