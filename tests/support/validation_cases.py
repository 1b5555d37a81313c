"""A small sound run, ways to break it, and what its validation must then say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from sicetnon.validation import Finding, Validation, rules, validate

ARGUMENTS, PAIRS, PASSAGES = "touche-2020-task-1", "touche-2022-task-1", "touche-2022-task-2"
TOPICS = ("1", "2", "3")
RULES = {rule.name: rule for rule in vars(rules).values() if isinstance(rule, rules.Rule)}
"""All rules by name."""

Validated = Callable[..., Validation]


def sound_lines() -> list[str]:
    """A sound run of five results for each of three topics."""
    return [
        f"{topic} Q0 S{topic}-A{rank} {rank} {6.5 - rank} mine"
        for topic in TOPICS
        for rank in range(1, 6)
    ]


def pair_lines(count: int = 100) -> list[str]:
    """A sound run of pairs."""
    return [
        f"{topic} PRO S{topic}-A1__CONC__1,S{topic}-A1__PREMISE__{rank} {rank} {999 - rank} mine"
        for topic in TOPICS
        for rank in range(1, count + 1)
    ]


def validator(directory: Path) -> Validated:
    """A function that writes lines to a file and validates that."""

    def run(lines: Iterable[str] | bytes, task: str = ARGUMENTS, **more: object) -> Validation:
        path = directory / "a run.txt"
        if isinstance(lines, bytes):
            path.write_bytes(lines)
        else:
            path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
        return validate(path, task, **{"topics": TOPICS, **more})  # type: ignore[arg-type]

    return run


def changed(line: int, old: str, new: str, lines: list[str] | None = None) -> list[str]:
    """The sound run with one line changed; lines count from 1."""
    lines = sound_lines() if lines is None else lines
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    return lines


def only(validation: Validation, rule: str, severity: str = "error") -> Finding:
    """The one finding, whose message must name all that a message must name."""
    assert [finding.rule for finding in validation.findings] == [rule], str(validation)
    finding = validation.findings[0]
    assert finding.severity == severity
    assert validation.ok is (severity == "warning")
    assert validation.exit_status == (0 if validation.ok else 1)
    message = str(finding)
    place = validation.file if finding.line is None else f"{validation.file}, line {finding.line}"
    assert message.startswith(f"{place}: found {finding.found}; expected {finding.expected} (")
    assert message.endswith(RULES[rule].advice)
    assert "\n" not in message
    return finding
