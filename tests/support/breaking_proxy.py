"""A proxy before one node that can hang, drop connections, be slow, or say the node is busy."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Literal

Mode = Literal["pass", "hang", "drop", "busy"]
_BUSY = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class BreakingProxy:
    """Listens on a free port of loopback; use as a context manager.

    Args:
        target: `host:port` of the node.
        delay: Seconds for which what is sent to the node is held back.
    """

    def __init__(self, target: str, delay: float = 0.0):
        host, _, port = target.partition(":")
        self._target, self._delay = (host, int(port)), delay
        self.mode: Mode = "pass"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._pairs: list[socket.socket] = []

    def __enter__(self) -> BreakingProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.mode = "drop"
        self._listener.close()
        self._cut()

    def turn(self, mode: Mode) -> None:
        """Change what happens to connections, also to those that are open."""
        self.mode = mode
        if mode != "pass":
            self._cut()

    def _cut(self) -> None:
        if self.mode != "hang":
            for each in self._pairs:
                with contextlib.suppress(OSError):
                    # a socket that another thread reads is not closed by closing it
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
            self._pairs.clear()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            self._pairs.append(client)
            if self.mode == "drop":
                client.close()
            elif self.mode == "busy":
                client.recv(1 << 20)
                client.sendall(_BUSY)
                client.close()
            elif self.mode == "pass":
                node = socket.create_connection(self._target)
                self._pairs.append(node)
                threading.Thread(target=self._copy, args=(node, client), daemon=True).start()
                self._copy(client, node, self._delay)
        except OSError:
            client.close()

    def _copy(self, source: socket.socket, target: socket.socket, delay: float = 0.0) -> None:
        try:
            while data := source.recv(1 << 16):
                if delay:
                    time.sleep(delay)
                    # the head of a request and its body come apart, and are delayed once
                    with contextlib.suppress(BlockingIOError):
                        data += source.recv(1 << 20, socket.MSG_DONTWAIT)
                while self.mode == "hang":
                    threading.Event().wait(0.05)
                target.sendall(data)
        except OSError:
            pass
        finally:
            source.close()
            target.close()
