"""The compose file of the guide to clusters: three nodes of one pinned version, on loopback."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

COMPOSE = Path(__file__).parents[2] / "docs" / "how-to" / "cluster" / "compose.yaml"
PASSWORD = "OPENSEARCH_INITIAL_ADMIN_PASSWORD"


def test_three_nodes_of_one_version_listen_on_loopback_alone() -> None:
    services = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    assert len(services) == 3
    (image,) = {service["image"] for service in services.values()}
    assert image == "opensearchproject/opensearch:3.4.0"
    ports = [port for service in services.values() for port in service["ports"]]
    assert sorted(ports) == [f"127.0.0.1:{port}:9200" for port in (9200, 9201, 9202)]
    for name, service in services.items():
        environment = service["environment"]
        assert environment["node.name"] == name
        assert set(environment["discovery.seed_hosts"].split(",")) == set(services)
        assert environment[PASSWORD].startswith(f"${{{PASSWORD}:?"), (
            "no password stands in the file"
        )


def compose_command() -> list[str] | None:
    """Docker's compose, as a plugin or as a program of its own."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if (
            shutil.which(command[0])
            and not subprocess.run([*command, "version"], capture_output=True).returncode
        ):
            return command
    return None


def test_docker_takes_the_file() -> None:
    command = compose_command()
    if command is None:
        pytest.skip("no Docker with compose here: the file is parsed as YAML alone")
    done = subprocess.run(
        [*command, "-f", str(COMPOSE), "config"],
        env={**os.environ, PASSWORD: "tried-1-Aa"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(yaml.safe_load(done.stdout)["services"]) == 3
