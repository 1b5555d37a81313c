"""Limits of the server, and what it serves beside the index, each a parameter."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")


@dataclass(frozen=True)
class Settings:
    """Settings of the server.

    Attributes:
        host: The address that it is bound to.
        threads: Requests that are worked on at once.
        waiting: Requests that may wait for a thread; more are refused with 503.
        seconds: Seconds within which the work on a request must begin (503), after which it is
            stopped (503), after which its body must be whole (408), and within which the client
            must take a part of the answer.
        grace_seconds: Seconds that requests have to end in when the server is stopped.
        head_seconds: Seconds within which a connection must have sent the head of a request.
        cached: Answers that are kept until the index changes.
        cached_letters: Letters of the texts of all of them at most.
        question_letters: Letters of a question at most.
        text_letters: Letters of any other text at most.
        body_bytes: Bytes of a body at most.
        upload_bytes: Bytes of a body with runs or judgments at most.
        token: What a request must show to judge and to upload, unless the server is bound to this
            machine alone.
        logs_questions: Whether the log holds the questions and texts of requests.
        root_path: The path below which a proxy shows the server, such as `/debates`; the header
            `X-Forwarded-Prefix` of a request takes precedence.
        judging: The judging file of the page Judge.
        runs: Runs of the page Runs.
        qrels: The judgments that they are scored by.
        topics: The questions, for the page Runs.
    """

    host: str = "127.0.0.1"
    threads: int = 2
    waiting: int = 32
    seconds: float = 30.0
    grace_seconds: int = 10
    head_seconds: float = 10.0
    cached: int = 256
    cached_letters: int = 1 << 24
    question_letters: int = 2_000
    text_letters: int = 20_000
    body_bytes: int = 1 << 20
    upload_bytes: int = 1 << 25
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    logs_questions: bool = False
    root_path: str = ""
    judging: Path | None = None
    runs: tuple[Path, ...] = ()
    qrels: tuple[Path, ...] = ()
    topics: Path | None = None

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine can reach it."""
        return self.host in LOOPBACK
