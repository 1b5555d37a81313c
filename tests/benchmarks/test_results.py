"""The page of all results: what it names, and what runs again."""

import hashlib
from pathlib import Path

import pytest

from benchmarks.results import PROGRAMS, Program, Section, checksums, code_digest, page, run

ROOT = Path(__file__).parents[2]


def test_every_program_of_the_folder_is_run() -> None:
    listed = {each.name for each in PROGRAMS}
    found = {
        path.stem
        for path in (ROOT / "benchmarks/effectiveness").glob("*.py")
        if "__main__" in path.read_text(encoding="utf-8")
    }
    # each of these needs an extra, or an index that takes an hour
    assert found - listed == {"neural_reranking", "stored", "uva"}


def test_checksums_name_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.txt").write_bytes(b"1 Q0 d 1 0.5 t\n")
    (tmp_path / "b.tsv").write_bytes(b"")
    (tmp_path / ".hidden").write_bytes(b"")
    found = checksums(tmp_path)
    assert found == {
        "b.tsv": hashlib.sha256(b"").hexdigest(),
        "runs/a.txt": hashlib.sha256(b"1 Q0 d 1 0.5 t\n").hexdigest(),
    }
    monkeypatch.chdir(tmp_path / "runs")
    assert checksums(Path("..")) == found


def test_code_digest_changes_with_a_file(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("x = 1\n")
    before = code_digest(tmp_path)
    (tmp_path / "src/a.py").write_text("x = 2\n")
    assert code_digest(tmp_path) != before


def test_page_keeps_tables_and_quotes_other_lines() -> None:
    section = Section(
        "key", "python -m benchmarks.effectiveness.sides", 12.4, "a line\n| a |\n|---|"
    )
    text = page([(Program("sides", "Sides"), section)], {"topics.xml": "ab" * 32})
    assert "## Sides\n" in text
    assert "```text\na line\n```\n\n| a |\n|---|\n" in text
    assert "12 seconds" in text
    assert "| topics.xml | `abababababababab` |" in text


def test_unchanged_program_does_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "benchmarks/effectiveness").mkdir(parents=True)
    for folder in ("benchmarks", "benchmarks/effectiveness"):
        (tmp_path / folder / "__init__.py").write_text("")
    program = tmp_path / "benchmarks/effectiveness/counting.py"
    program.write_text("open('runs.txt', 'a').write('x'); print('| 1 |')\n")
    for key in ("one", "one", "two"):
        assert (
            run(Program("counting", "Counting"), key, tmp_path / "kept", tmp_path).text == "| 1 |"
        )
    assert (tmp_path / "runs.txt").read_text() == "xx"


def test_failing_program_ends_with_its_command(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"benchmarks\.effectiveness\.missing ended with exit"):
        run(Program("missing", "Missing"), "key", tmp_path / "kept", tmp_path)
    assert not (tmp_path / "kept/missing.json").exists()
