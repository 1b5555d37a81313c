"""A pool of the sample behind a real server, and people who judge it over HTTP."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

from sicetnon.judging import make_pool
from support.patience import HANGS

TOPICS = {"1": "Should zoos be closed?", "2": "Is homework <b>useful</b>?"}


def sample_pool(path: Path, ids: Iterable[str], **options: Any) -> Path:
    """A judging file of documents of an index, for two questions."""
    known = list(ids)
    runs = {
        "one": {topic: {each: 1.0 / (n + 1) for n, each in enumerate(known)} for topic in TOPICS}
    }
    make_pool(path, runs, TOPICS, depth=len(known), **options)
    return path


@dataclass
class Assessor:
    """Somebody with a browser without scripts, or a program.

    Attributes:
        url: The address of the server.
        name: Theirs.
        cookie: What their browser keeps.
        token: The token of the server.
    """

    url: str
    name: str
    cookie: str = ""
    token: str = ""
    pool: Any = field(default_factory=lambda: urllib3.PoolManager(retries=False, timeout=HANGS))

    def ask(self, method: str, path: str, **more: Any) -> Any:
        from sicetnon.web.middleware import SESSION_COOKIE

        headers = more.pop("headers", {}) | ({"Cookie": self.cookie} if self.cookie else {})
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        answer = self.pool.request(method, self.url + path, headers=headers, redirect=False, **more)
        if found := re.search(rf"{SESSION_COOKIE}=[^;]+", answer.headers.get("set-cookie", "")):
            self.cookie = found[0]
        return answer

    def page(self, path: str = "") -> str:
        """The page Judge."""
        answer = self.ask("GET", path or f"/judge?assessor={self.name}")
        assert answer.status == 200, answer.data
        return str(answer.data.decode())

    def ahead(self, count: int = 1) -> Any:
        """The next documents, as a script gets them."""
        answer = self.ask("GET", f"/judge/next?assessor={self.name}&count={count}")
        assert answer.status == 200, answer.data
        return answer.json()

    def send(self, actions: list[dict[str, Any]], csrf: str) -> Any:
        """Send actions, as a script does."""
        body = {"assessor": self.name, "actions": actions}
        from sicetnon.web.middleware import CSRF_HEADER

        return self.ask("POST", "/judge/actions", json=body, headers={CSRF_HEADER: csrf})

    def submit(self, fields: dict[str, str]) -> Any:
        """Send a form."""
        return self.ask("POST", "/judge", fields=fields, encode_multipart=False)


def forms(page: str) -> list[dict[str, str]]:
    """The hidden fields of each form that changes something."""
    found = []
    for form in re.findall(r"<form[^>]*method=\"post\".*?</form>", page, re.DOTALL):
        fields = re.findall(r"type=\"hidden\" name=\"(\w+)\" value=\"([^\"]*)\"", form)
        found.append({name: html.unescape(value) for name, value in fields})
    return found


def form_of(page: str, kind: str) -> dict[str, str]:
    """The first form of a kind of action."""
    return next(each for each in forms(page) if each.get("kind") == kind)
