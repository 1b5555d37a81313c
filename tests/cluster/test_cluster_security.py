"""A secured cluster: documented rights suffice, faults are one line, secrets show nowhere."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sicetnon.app.index import Index
from sicetnon.cluster.address import parse_address, read_credentials
from sicetnon.errors import SicetnonError, UsageError
from support.engine import required_java
from support.patience import HANGS
from support.secured_nodes import PASSWORD, SecuredCluster, start_secured

ROLES = Path(__file__).parents[2] / "docs" / "how-to" / "cluster" / "roles.json"
ROWS = [{"id": f"d{n}", "text": f"school uniforms number {n}"} for n in range(20)]
Enter = Callable[..., None]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredCluster]:
    """Three secured nodes with a builder and a searcher."""
    required_java()
    started = start_secured(tmp_path_factory.mktemp("secured"), 3)
    try:
        roles = json.loads(ROLES.read_text())
        started.add_user("builder", "sicetnon_builder", roles["sicetnon_builder"])
        started.add_user("searcher", "sicetnon_searcher", roles["sicetnon_searcher"])
        yield started
    finally:
        started.cluster.stop()


@pytest.fixture
def enter(secured: SecuredCluster, monkeypatch: pytest.MonkeyPatch) -> Enter:
    """Take the credentials of a user."""

    def take(user: str = "", password: str = PASSWORD, ca: str = str(secured.ca)) -> None:
        monkeypatch.setenv("SICETNON_CLUSTER_USER", user)
        monkeypatch.setenv("SICETNON_CLUSTER_PASSWORD", password if user else "")
        monkeypatch.setenv("SICETNON_CLUSTER_CA", ca)

    return take


def test_the_documented_rights_suffice_and_no_more(secured: SecuredCluster, enter: Enter) -> None:
    from cluster.conftest import LOADING

    address = secured.cluster.address("arguments")
    enter("builder")
    with Index.build(ROWS, address, cluster=LOADING) as index:
        changed = index.add([{"id": "d0", "text": "gun rights"}], replace=True).delete(["d1"])
        changed.verify()
        changed.close()
    with pytest.raises(SicetnonError, match="right is missing"):
        Index.build(ROWS, secured.cluster.address("others"), cluster=LOADING)
    enter("searcher")
    with Index.open(address) as index:
        assert index.search("gun rights", system="default", sides=False)[0].id == "d0"
        index.verify()
        with pytest.raises(SicetnonError, match="right is missing"):
            index.delete(["d2"])
    with Index.open(address) as index:
        assert len(index) == 19


def test_wrong_credentials_are_one_line_each(
    secured: SecuredCluster, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SICETNON_CLUSTER_SECONDS", "3")
    address = secured.cluster.address("arguments")
    enter("searcher", "Wrong-Password-99-here")
    with pytest.raises(SicetnonError, match="refuses the user or the password") as error:
        Index.open(address)
    assert "Wrong-Password" not in str(error.value)
    enter("searcher", ca="")
    with pytest.raises(SicetnonError, match="is not trusted; name its CA"):
        Index.open(address)
    enter()
    plain = address.replace("https", "http")
    with pytest.raises(SicetnonError, match="if it speaks https"):
        Index.open(plain)


def test_secrets_show_nowhere(secured: SecuredCluster, enter: Enter, tmp_path: Path) -> None:
    from cluster.conftest import LOADING

    enter("builder")
    address = secured.cluster.address("arguments")
    Index.build(ROWS, address, cluster=LOADING).close()
    words = [sys.executable, "-m", "sicetnon", "index", "info", address, "-vv"]
    words = [word for word in words if word != "-vv"] + ["--verbose", "--verbose"]
    told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=HANGS)
    assert "20 entries" in told.stdout
    assert PASSWORD not in told.stdout + told.stderr
    credentials = read_credentials(parse_address(address))
    assert PASSWORD not in repr(credentials) + str(vars(credentials))


def test_secrets_in_an_address_are_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as error:
        parse_address("opensearch+https://me:Secret-Word@host:9200/name")
    assert "Secret-Word" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    ["opensearch+https://host", "opensearch+ftp://host/a", "opensearch+https://h:0/a",
     "opensearch+https://h/A", "opensearch+https://h/a/b", "opensearch+https://h/../x",
     "opensearch+https:///a", "opensearch+https://h,/a"],
)  # fmt: skip
def test_wrong_addresses_are_refused(address: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        parse_address(address)


def test_credentials_come_from_a_file_and_the_environment(tmp_path: Path) -> None:
    address = parse_address("opensearch+https://host/name")
    file = tmp_path / "cluster.toml"
    file.write_text('user = "me"\npassword = "From-The-File-1"\nverify = false\n')
    environ = {"SICETNON_CLUSTER_FILE": str(file), "SICETNON_CLUSTER_USER": "you"}
    found = read_credentials(address, environ)
    assert (found.user, found.password.reveal(), found.verify) == ("you", "From-The-File-1", False)
    assert "From-The-File-1" not in repr(found)
    with pytest.raises(UsageError, match="in the clear"):
        read_credentials(parse_address("opensearch+http://host/name"), environ)
    file.write_text("passwort = 1")
    with pytest.raises(SicetnonError, match="found passwort; expected some of user"):
        read_credentials(address, environ)
    file.write_text("password = unquoted Secret-9")
    with pytest.raises(SicetnonError, match="is no TOML") as error:
        read_credentials(address, environ)
    assert "Secret-9" not in str(error.value)


@pytest.mark.parametrize(
    "host", ["127.evil.example", "127.0.0.1.evil.example", "localhost.a", "127."]
)
def test_no_password_goes_to_a_name_that_looks_like_this_machine(host: str) -> None:
    address = parse_address(f"opensearch+http://{host}/a")
    secrets = {"SICETNON_CLUSTER_USER": "me", "SICETNON_CLUSTER_PASSWORD": "Secret-Word"}
    with pytest.raises(UsageError, match="in the clear"):
        read_credentials(address, secrets)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]", "LOCALHOST"])
def test_this_machine_gets_a_password_without_tls(host: str) -> None:
    address = parse_address(f"opensearch+http://{host}/a")
    secrets = {"SICETNON_CLUSTER_USER": "me", "SICETNON_CLUSTER_PASSWORD": "Secret-Word"}
    assert read_credentials(address, secrets).user == "me"
