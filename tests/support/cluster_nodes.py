"""A real cluster for tests: nodes in processes of their own, on free ports of loopback.

`engine` says where the nodes' program is, and how it starts.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.engine import HOME, class_path, loaded_classes, required_java
from support.patience import HANGS
from support.ports import free_ports

QUICK = ("-Xms384m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Options of Java for nodes that live for a minute: compiled quickly rather than well."""
_STARTED: list[subprocess.Popen[bytes]] = []
"""Kept until the end, since other processes may still use the nodes."""

_LOG = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d{ISO8601}][%p][%c{1}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""


@dataclass
class Node:
    """One node.

    Attributes:
        name: Its name in the cluster.
        folder: Its configuration, data and log.
        port: Its port for HTTP.
        command: Starts it.
    """

    name: str
    folder: Path
    port: int
    command: Sequence[str]

    @property
    def pid(self) -> int:
        """The id of its process, whichever process started it; 0 when none did."""
        try:
            return int((self.folder / "pid").read_text())
        except FileNotFoundError:
            return 0

    def start(self) -> None:
        """Start the process; `Cluster.wait` waits for the node."""
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(self.command, stdout=log, stderr=log, start_new_session=True)
        _STARTED.append(process)
        (self.folder / "pid").write_text(str(process.pid))

    def kill(self) -> None:
        """End the process at once."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the process in good order."""
        self._end(signal.SIGTERM)

    def pause(self) -> None:
        """Stop the process; it keeps its connections and answers nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Continue a paused process."""
        os.kill(self.pid, signal.SIGCONT)

    @property
    def is_running(self) -> bool:
        """Whether its process is there."""
        if not self.pid:
            return False
        for process in _STARTED:
            process.poll()
        try:
            state = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        # one that has ended stays until the process that started it asks for its status
        return state != "Z"

    def _end(self, how: signal.Signals) -> None:
        if not self.is_running:
            return
        os.kill(self.pid, signal.SIGCONT)
        os.kill(self.pid, how)
        end = time.monotonic() + HANGS
        while self.is_running:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.05)


@dataclass
class Cluster:
    """A running cluster.

    Attributes:
        nodes: Its nodes; none for a cluster that was not started here.
        hosts: `host:port` of each node.
        scheme: `http` or `https`.
        open: Opens a URL; knows how to authenticate.
    """

    nodes: list[Node]
    hosts: list[str]
    scheme: str = "http"
    open: Callable[..., Any] = field(default=urllib.request.urlopen)

    def address(self, name: str, *places: int) -> str:
        """The address of an index, at all hosts or at some of them."""
        hosts = [self.hosts[place] for place in places] if places else self.hosts
        return f"opensearch+{self.scheme}://{','.join(hosts)}/{name}"

    def ask(self, path: str, method: str = "GET", body: Any = None, host: int = 0) -> Any:
        """Send a request of the test's own, and give the answer's JSON."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.scheme}://{self.hosts[host]}/{path}",
            data,
            {"Content-Type": "application/json"},
            method=method,
        )
        with self.open(request, timeout=HANGS) as answer:
            return json.loads(answer.read() or b"null")

    def remove(self, name: str) -> None:
        """Remove an index, and its builds that were stopped."""
        for physical in self.ask(f"{name}.*?expand_wildcards=all"):
            self.ask(physical, "DELETE")

    def wait(self, status: str = "green", seconds: float = HANGS) -> None:
        """Wait until all nodes are there and all copies of all shards."""
        path = f"_cluster/health?wait_for_status={status}&wait_for_nodes={len(self.nodes)}"
        end = time.monotonic() + seconds
        while True:
            try:
                if not self.ask(f"{path}&timeout=5s")["timed_out"]:
                    return
            except OSError:
                pass
            for node in self.nodes:
                if node.pid and not node.is_running:
                    log = (node.folder / "log").read_text(errors="replace")
                    raise RuntimeError(f"{node.name} has ended: {log[-2000:]}")
            if time.monotonic() > end:
                raise TimeoutError(f"the cluster is not {status} after {seconds:.0f} s")
            time.sleep(0.3)

    def manager(self) -> Node:
        """The elected manager."""
        found = self.ask("_cat/cluster_manager?format=json")[0]["node"]
        return next(node for node in self.nodes if node.name == found)

    def mend(self) -> None:
        """Start the nodes that do not run, continue those that were paused, and wait."""
        if not self.nodes:
            return
        for node in self.nodes:
            if node.is_running:
                node.resume()
            else:
                node.start()
        self.wait()

    def stop(self) -> None:
        """Stop all nodes."""
        for node in self.nodes:
            node.kill()


def start_cluster(
    folder: Path,
    count: int = 3,
    settings: dict[str, Any] | None = None,
    prepare: Callable[[Path], None] | None = None,
    opener: Callable[..., Any] | None = None,
    java_options: Sequence[str] = QUICK,
    is_prepared: bool = True,
) -> Cluster:
    """Start nodes and wait until they are a cluster.

    Args:
        folder: An empty folder for the nodes.
        count: Number of nodes.
        settings: Further settings of every node.
        prepare: Called with the folder of each node before it starts.
        opener: Opens URLs of a secured cluster.
        java_options: Memory, compiler and modules of every node.
        is_prepared: Whether nodes load their classes from an archive, which is made at first.
    """
    program = required_java()
    archive = loaded_classes(program, _write_archive) if is_prepared else ()
    ports = free_ports(2 * count)
    names = [f"node-{number}" for number in range(count)]
    common = {
        "cluster.name": f"test-{ports[0]}",
        "network.host": "127.0.0.1",
        "discovery.seed_hosts": [f"127.0.0.1:{port}" for port in ports[count:]],
        "cluster.initial_cluster_manager_nodes": names,
        "cluster.routing.allocation.disk.threshold_enabled": False,
        **(settings or {}),
    }
    nodes = [
        _node(
            folder / name,
            {
                **common,
                "node.name": name,
                "http.port": ports[place],
                "transport.port": ports[count + place],
            },
            [str(program), *java_options, *archive, *class_path(program)],
        )
        for place, name in enumerate(names)
    ]
    cluster = Cluster(nodes, [f"127.0.0.1:{node.port}" for node in nodes])
    if opener is not None:
        cluster = Cluster(nodes, [f"localhost:{node.port}" for node in nodes], "https", opener)
    try:
        for node in nodes:
            if prepare is not None:
                prepare(node.folder)
            node.start()
        cluster.wait()
    except BaseException:
        cluster.stop()
        raise
    return cluster


def _node(folder: Path, settings: dict[str, Any], start: Sequence[str]) -> Node:
    (folder / "config").mkdir(parents=True)
    (folder / "modules").symlink_to(HOME / "modules")
    # JSON is YAML, too
    (folder / "config" / "opensearch.yml").write_text(json.dumps(settings))
    (folder / "config" / "log4j2.properties").write_text(_LOG)
    return Node(settings["node.name"], folder, settings["http.port"], [*start, str(folder)])


def _write_archive(path: Path) -> None:
    """Let a node write the classes that it has loaded when it ends."""
    options = (*QUICK, f"-XX:ArchiveClassesAtExit={path}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        cluster = start_cluster(Path(folder), 1, java_options=options, is_prepared=False)
        cluster.nodes[0].stop()
