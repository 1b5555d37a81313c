"""Every benchmark and every tool can be imported, and those that are started say how."""

import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(file for room in ("benchmarks", "tools") for file in (ROOT / room).rglob("*.py"))
NAMES = [
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in FILES
    if file.name != "__init__.py"
]
# a part of another benchmark, and three tools that have nothing to choose
WITHOUT_HELP = {
    "benchmarks.speed.harness",
    "tools.house",
    "tools.make_picture",
    "tools.reference",
}


@pytest.mark.parametrize("name", NAMES)
def test_program_starts(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = importlib.import_module(name)
    assert module.__file__ is not None
    is_started = "__main__" in Path(module.__file__).read_text(encoding="utf-8")
    if not is_started or name in WITHOUT_HELP:
        return
    monkeypatch.setattr("sys.argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: ")
