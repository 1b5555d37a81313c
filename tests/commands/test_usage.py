"""Messages for a wrong command line: the usage of its own command, and one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sicetnon.cli import main, parser
from sicetnon.commands.arguments import natural, positive
from support.command_line import TASK
from tools import reference


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What is printed of a command line that argparse refuses."""
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    assert stop.value.code == 2
    shown, told = capsys.readouterr()
    assert shown == ""
    return told


@pytest.mark.parametrize(
    "words",
    [
        ["index", "build", "docs.csv", "-o", "ix"],
        ["index", "info", "ix"],
        ["evaluate", "run.txt", "--qrels", "a.qrels"],
        ["search", "x"],
    ],
)
def test_an_unknown_option_shows_the_usage_of_its_command(words: list[str], capsys) -> None:
    told = refused(capsys, *words, "--nosuch")
    name = " ".join(["sicetnon", *words[: 2 if words[0] == "index" else 1]])
    assert told.startswith(f"usage: {name} [-h]")
    assert told.endswith(f"\n{name}: error: unrecognized arguments: --nosuch\n")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["serach", "tea"], "did you mean search?"),
        (["index", "biuld", "x"], "did you mean build?"),
        (["search", "tea", "--sytem", "bm25"], "did you mean --system?"),
        (["annotate", "qualty", "x"], "did you mean quality?"),
        (["index"], "required: VERB (sicetnon index --help lists them)"),
        ([], "required: COMMAND (sicetnon --help lists them)"),
        (["leaderboard"], "required: TASK\n"),
    ],
)
def test_a_mistyped_or_missing_name_is_helped(words: list[str], part: str, capsys) -> None:
    assert part in refused(capsys, *words)


def test_an_option_that_takes_the_run_too_says_so(capsys) -> None:
    told = refused(capsys, "evaluate", "--qrels", "a.qrels", "run.txt")
    assert "RUN (an option such as --qrels takes all words after it: name it last)" in told
    assert main(["leaderboard", TASK, "--qrels", "a.qrels", "run.txt"]) == 2
    assert "name the runs first" in capsys.readouterr().err


def test_judgments_may_be_named_one_by_one(sample: Path, tmp_path: Path, capsys) -> None:
    run = tmp_path / "run.txt"
    run.write_text("1 Q0 x 1 1.0 tag\n")
    files = [f"--qrels={sample / name}" for name in ("relevance.qrels", "quality.qrels")]
    assert main(["evaluate", *files, str(run)]) == 0
    shown = capsys.readouterr().out
    assert "relevance.qrels" in shown
    assert "quality.qrels" in shown


def test_a_mistyped_measure_names_the_nearest(sample: Path, tmp_path: Path, failing) -> None:
    (tmp_path / "run.txt").write_text("1 Q0 x 1 1.0 tag\n")
    files = (tmp_path / "run.txt", "--qrels", sample / "relevance.qrels")
    assert failing("evaluate", *files, "--measure", "ndcg_cut_5") == (
        2,
        "sicetnon: found the measure 'ndcg_cut_5', which is not known; expected nDCG@5",
    )


COUNTS = [
    [*command.prog.split()[1:], action.option_strings[-1]]
    for command in reference.leaves(parser())
    for action in command._actions
    if action.type in (positive, natural)
]


@pytest.mark.parametrize("words", COUNTS, ids=" ".join)
@pytest.mark.parametrize("number", ["0", "-1", "1.5", "many", "9" * 30])
def test_a_count_is_a_whole_number_above_0(words: list[str], number: str, capsys) -> None:
    if words[-1] in ("--seed", "--replicas") and number == "0":  # none is a count of these
        return
    told = refused(capsys, *words, number)
    option = words[-1]
    assert told.splitlines()[-1].startswith(f"sicetnon {' '.join(words[:-1])}: error: argument ")
    assert option in told.splitlines()[-1]
    assert "expected a whole number" in told.splitlines()[-1]


def test_every_option_that_counts_is_known() -> None:
    assert {" ".join(words) for words in COUNTS} == {
        *("annotate --threads", "evaluate --seed", "fuse -k", "index add --memory"),
        *("index add --workers", "index build --memory", "index build --replicas"),
        *("index build --shards", "index build --workers", "judge pool --depth"),
        *("judge pool --quota", "judge pool --seed", "judge pool --votes"),
        *("reply -k", "run -k", "search -k"),
    }


@pytest.mark.parametrize("option", ["--page-ranks", "--spam-ranks"])
def test_ranks_of_pages_are_refused_for_other_documents(
    option: str, sample: Path, tmp_path: Path, failing
) -> None:
    (tmp_path / "ranks").write_text("a 1\n")
    command = ("index", "build", sample / "input", "-o", tmp_path / "ix")
    status, line = failing(*command, option, tmp_path / "ranks")
    assert status == 2
    assert "are for web pages; found arguments; leave the option out" in line
    assert not (tmp_path / "ix").exists()
