"""A server whose answers never end: slowly, or as fast as the network goes."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
from collections.abc import Iterator

_HEAD = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
# what comes first, and what is then repeated for ever
DRIPS = {
    "interim": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "status": (b"HTTP/1.1 200 ", b"O"),
    "header": (_HEAD + b"X-Name: ", b"a"),
    "headers": (_HEAD, b"A: b\r\n"),
    "body": (_HEAD + b"Content-Length: 9999999999\r\n\r\n", b" "),
    "body until the end": (_HEAD + b"Connection: close\r\n\r\n", b" "),
    "chunk": (_CHUNKED + b"fffffff\r\n", b" "),
    "chunks": (_CHUNKED, b"1\r\n \r\n"),
    "chunk extension": (_CHUNKED + b"1;", b"a"),
    "chunk size": (_CHUNKED, b"0"),
    "trailer": (_CHUNKED + b"0\r\nX: ", b"a"),
    "trailers": (_CHUNKED + b"0\r\n", b"A: b\r\n"),
    "redirect": (b"HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 99999999\r\n\r\n", b" "),
    "refusal": (b"HTTP/1.1 503 Busy\r\nContent-Length: 99999999\r\n\r\n", b" "),
}


@contextlib.contextmanager
def dripping(name: str, pause: float = 0.01, times: int = 1) -> Iterator[str]:
    """A running server, by its address.

    Args:
        name: The part of its answers that does not end, of `DRIPS`.
        pause: Seconds between two repetitions; 0 sends as fast as a client reads.
        times: Repetitions that are sent at once.
    """
    first, more = DRIPS[name]
    closing = threading.Event()

    def answer(client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.recv(1 << 16)
            client.sendall(first)
            for _ in itertools.count():
                client.sendall(more * times)
                if closing.wait(pause):
                    return

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = server.accept()
                threading.Thread(target=answer, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            closing.set()
