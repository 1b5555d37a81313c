"""Ports that are still free when a server starts on them."""

from __future__ import annotations

import contextlib
import random
import socket

# a system gives ports from 32768 on to those who ask for any, as each connection of a test does
PORTS = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on, and that no system gives to another test meanwhile."""
    found: list[int] = []
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            break
    return found
