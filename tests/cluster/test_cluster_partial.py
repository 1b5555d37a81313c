"""Answers that lack a shard: an error, or a partial answer that says so where it is allowed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from sicetnon.app.index import Index
from sicetnon.cli import main
from sicetnon.cluster.index_state import STATE
from sicetnon.errors import SicetnonError
from support.cluster_nodes import Cluster

Capture = pytest.CaptureFixture[str]
LACKING = "1 of 3 shards gave no answer"


@contextmanager
def without_a_shard(cluster: Cluster, *indexes: Index) -> Iterator[None]:
    """Kill a node with a shard of each index, but without their states."""
    states = set()
    for index in indexes:
        physical, _ = index.known_version
        routing = STATE.replace(" ", "%20")
        nodes = cluster.ask(f"{physical}/_search_shards?routing={routing}")["nodes"]
        states |= {node["name"] for node in nodes.values()}
    spared = {cluster.manager().name, *states}
    node = next((each for each in cluster.nodes if each.name not in spared), None)
    assert node is not None
    node.kill()
    yield


def asked(index: Index) -> list[str]:
    found = index.search(
        "should teachers get tenure", 1000, system="default", sides=False, snippets=False
    )
    return [answer.id for answer in found]


def test_a_partial_answer_is_an_error_unless_it_is_allowed(
    breakable: Cluster,
    sample: Path,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = breakable.address(f"partial-{time.monotonic_ns()}")
    source, words = sample / "input", ["--index", address]
    run = ["run", "touche-2020-task-1", "-i", str(source), "--system", "dirichlet", *words]
    assert main([*run, "-o", str(tmp_path / "whole")]) == 0
    breakable.ask(f"{address.rpartition('/')[2]}/_settings", "PUT", {"number_of_replicas": 0})
    monkeypatch.setenv("SICETNON_CLUSTER_SECONDS", "10")
    with Index.open(address) as strict, Index.open(address, partial=True) as partial:
        everything = asked(partial)
        assert not partial.missing
        with without_a_shard(breakable, strict):
            with pytest.raises(SicetnonError, match=r"gave no answer|status 503"):
                asked(strict)
            some = asked(partial)
            assert 0 < len(some) < len(everything)
            assert set(some) < set(everything)
            assert partial.missing == LACKING
            commands_mark(run, words, tmp_path, capsys)
        breakable.mend()
    with Index.open(address, partial=True) as again:
        assert asked(again) == everything
        assert not again.missing


def commands_mark(run: list[str], words: list[str], folder: Path, capsys: Capture) -> None:
    """Commands mark partial answers."""
    assert main([*run, "-o", str(folder / "part"), "--partial"]) == 0
    assert LACKING in capsys.readouterr().err
    search = ["search", "tenure for teachers", "--no-sides", "--json", *words, "--partial"]
    assert main(search) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["partial"] == LACKING
    assert found["answers"]
    whole, part = (
        yaml.safe_load((folder / name / "ir-metadata.yml").read_text())["data"]["test collection"]
        for name in ("whole", "part")
    )
    assert "partial" not in whole
    assert part["partial"] == LACKING
