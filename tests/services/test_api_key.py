"""The API key: where to get one, and that it shows up nowhere."""

from __future__ import annotations

import json
import logging
import traceback
import zlib
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import quote

import pytest

from sicetnon.errors import ServiceError, UsageError
from sicetnon.services.chatnoir import ChatNoirRetriever
from sicetnon.services.http import ApiKey, ResponseCache, Service
from support.databases import rows_of
from support.service_setting import IMPATIENT, KEY, MILK, TEA


class TestKey:
    def test_no_key_says_where_to_get_one(self, double, setting, monkeypatch) -> None:
        monkeypatch.delenv("CHATNOIR_API_KEY", raising=False)
        with pytest.raises(
            UsageError, match=r"https://www\.chatnoir\.eu/apikey/.*CHATNOIR_API_KEY"
        ):
            setting.chatnoir(double, key=None).retrieve([TEA], 10)
        assert double.requests == []

    def test_a_refused_key_is_not_shown(self, double, setting) -> None:
        double.key = "another"
        with pytest.raises(ServiceError, match="refused the API key") as caught:
            setting.chatnoir(double).retrieve([TEA], 10)
        assert KEY not in "".join(_frames(caught.value))
        assert double.asked("POST") == 1

    def test_the_key_is_nowhere(self, double, setting, caplog, capfd, tmp_path: Path) -> None:
        caplog.set_level(logging.DEBUG)
        double.echoes_key, double.faults = True, [["500", "cut", "malformed"]]
        retriever = setting.chatnoir(double)
        retriever.records(retriever.retrieve([TEA], 10)[0])
        double.faults = [["401"]]
        with pytest.raises(ServiceError) as caught:
            retriever.retrieve([MILK], 10)
        seen = [*_frames(caught.value), *setting.said, *capfd.readouterr()]
        seen += [record.getMessage() for record in caplog.records]
        seen += [repr(retriever), repr(vars(retriever)), repr(vars(retriever._service))]
        assert any("_search" in message for message in seen)
        for path in tmp_path.rglob("*"):
            seen.append(str(path))
            if path.is_file():
                seen.append(path.read_bytes().decode("latin-1"))
        for body, request in rows_of(setting.cache, "SELECT body, request FROM answers"):
            seen += [zlib.decompress(body).decode(), request]
        forms = [KEY, json.dumps(KEY)[1:-1], "k3y%2Fwith"]
        assert not [text for text in seen for form in forms if form in text]
        assert all(body["apikey"] == KEY for _, _, body in double.requests if body)

    @pytest.mark.parametrize(
        "spelled",
        [
            lambda key: key.replace('"', '\\"').replace("/", "\\/"),
            lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
            lambda key: "".join(f"\\u{ord(letter):04X}" for letter in key),
            lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
            lambda key: json.dumps(escape(key))[1:-1],
            lambda key: "".join(f"&#{ord(letter)};" for letter in key),
            lambda key: escape(key).replace("/", "&#x2F;").replace("+", "&plus;"),
            lambda key: quote(key, safe="").lower(),
            lambda key: "".join(f"%{ord(letter):02X}" for letter in key),
            lambda key: quote(quote(key, safe=""), safe=""),
        ],
    )
    def test_an_echo_is_hidden_however_it_is_spelled(
        self, spelled: Callable[[str], str], double, setting
    ) -> None:
        body = json.dumps({"meta": {"total_results": 1}, "results": [double.hit(0, "tea")]})
        echo = spelled(KEY)
        double.faults = [[body.replace("On tea", f"On {echo} tea").encode()]]
        retriever = setting.chatnoir(double)
        (page,) = retriever.hits(retriever.retrieve([TEA], 10)[0])
        assert page.snippet.startswith("On *** tea")
        kept = rows_of(setting.cache, "SELECT body FROM answers")
        assert all(echo.encode() not in zlib.decompress(body) for (body,) in kept)

    @pytest.mark.parametrize("fault", ["moved", "hang up", "slow", "500", "malformed"])
    def test_no_exception_carries_it(self, fault, double, setting) -> None:
        setting.patience, double.faults = IMPATIENT, [[fault] * 4]
        with pytest.raises(ServiceError) as caught:
            setting.chatnoir(double).retrieve([TEA], 10)
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
        assert KEY not in "".join(_frames(caught.value))

    def test_keys_that_cannot_be(self) -> None:
        for key in ("two words-secret", "line\nsecret", "sécret", "nul\x00secret"):
            with pytest.raises(UsageError) as caught:
                ApiKey("ChatNoir", key)
            assert "secret" not in str(caught.value)
        assert not ApiKey("ChatNoir", " ")
        assert ApiKey("ChatNoir", " spaced-key\n").reveal() == "spaced-key"
        assert "spaced" not in f"{ApiKey('ChatNoir', 'spaced-key')!r}"

    @pytest.mark.parametrize(
        "url", ["chatnoir.eu", "ftp://chatnoir.eu", "http://", "https://a:secret@b", "http://a:b:c"]
    )
    def test_addresses_that_cannot_be(self, url: str, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="must look like https") as caught:
            ChatNoirRetriever(tmp_path, KEY, url)
        assert "secret" not in str(caught.value)


def _frames(error: BaseException) -> list[str]:
    """A traceback with the values of all variables of our own modules."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    told.stack[:] = [frame for frame in told.stack if "/sicetnon/" in frame.filename]
    return list(told.format())


@pytest.mark.parametrize("url", ["http://example.org", "http://127.evil.example:80/v1"])
def test_a_key_goes_to_no_other_machine_in_the_clear(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="in the clear"):
        Service("the service", url, ResponseCache(tmp_path), "a-key-of-ours")
    # without a key there is nothing to lose, and over TLS nobody reads it
    Service("the service", url, ResponseCache(tmp_path))
    Service("the service", url.replace("http:", "https:"), ResponseCache(tmp_path), "a-key-of-ours")
    monkeypatch.setenv("SICETNON_KEYS_OVER_HTTP", "yes")
    Service("the service", url, ResponseCache(tmp_path), "a-key-of-ours")
