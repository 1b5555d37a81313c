"""`sicetnon annotate`: what it adds, where it reads and writes, and what it does not take."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sicetnon.arguments.models.classifiers import Comparison, Quality, Stance
from sicetnon.arguments.side.classifier import Side
from sicetnon.formats.files import LOG, PART
from support.annotate_commands import RECORDS, annotate, check_tidy, command, read, write


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", RECORDS)


class TestFields:
    def test_quality(self, source: Path, tmp_path: Path) -> None:
        assert annotate("quality", source, "-o", tmp_path / "out.jsonl") == 0
        found = read(tmp_path / "out.jsonl")
        scores = Quality().score([record["text"] for record in RECORDS])
        for record, expected, score in zip(found, RECORDS, scores, strict=True):
            assert record == expected | {"quality": pytest.approx(float(score), abs=1e-4)}
            assert list(record) == list(expected | {"quality": 0})
        check_tidy(tmp_path, "in.jsonl", "out.jsonl")

    def test_stance(self, source: Path, tmp_path: Path) -> None:
        assert annotate("stance", source, "-o", tmp_path / "out.jsonl") == 0
        texts, topics = ([record[name] for record in RECORDS] for name in ("text", "topic"))
        chances = Stance().probabilities(texts, topics)
        for record, label, row in zip(
            read(tmp_path / "out.jsonl"), Stance().labels(chances), chances, strict=True
        ):
            assert record["stance"] == label
            assert list(record["probabilities"]) == ["PRO", "CON", "NONE"]
            assert list(record["probabilities"].values()) == pytest.approx(row.tolist(), abs=1e-4)

    def test_side_by_all_that_is_known(self, tmp_path: Path) -> None:
        question = "Should sugary drinks be taxed?"
        known = {"conclusion": "Sugary drinks should be taxed", "stance": "CON"}
        records = [
            {"text": "It hurts the poor.", "question": question} | known,
            {"text": "It hurts the poor.", "question": question, "conclusion": None},
        ]
        source = write(tmp_path / "in.jsonl", records)
        assert annotate("side", source, "-o", tmp_path / "out.jsonl") == 0
        found = read(tmp_path / "out.jsonl")
        assert found[0]["side"] == "AGAINST"
        assert found[0]["stance"] == "CON"
        sides = Side().classify(
            ["It hurts the poor."] * 2, question, [known["conclusion"], None], ["CON", None]
        )
        for record, answer in zip(found, sides, strict=True):
            assert record["side"] == answer.side
            assert list(record["probabilities"]) == ["FOR", "AGAINST", "BOTH", "NONE"]
            expected = pytest.approx(list(answer.probabilities), abs=1e-4)
            assert list(record["probabilities"].values()) == expected

    @pytest.mark.parametrize(
        ("record", "told"),
        [
            ({"text": "x"}, "found no 'question'"),
            ({"text": "x", "question": "y", "stance": "maybe"}, "'maybe', neither PRO nor CON"),
            ({"text": "x", "question": "y", "conclusion": 3}, "'conclusion' is no text"),
        ],
    )
    def test_a_record_without_a_side_is_one_line(
        self, record: dict[str, Any], told: str, tmp_path: Path, failing: Callable[..., Any]
    ) -> None:
        status, line = failing("annotate", "side", write(tmp_path / "in.jsonl", [record]))
        assert (status, told in line, "line 1" in line) == (1, True, True), line

    def test_comparison_by_objects_and_by_question(self, tmp_path: Path) -> None:
        text = "Python is easier to learn than Java."
        source = write(
            tmp_path / "in.jsonl",
            [
                {"text": text, "first": "Python", "second": "Java"},
                {"text": text, "question": "Which is better, Python or Java?"},
                {"text": text, "first": "Java", "second": "Python", "question": "anything"},
            ],
        )
        assert annotate("comparison", source, "-o", tmp_path / "out.jsonl") == 0
        one, two, three = read(tmp_path / "out.jsonl")
        assert one["stance"] == Comparison().classify([text], "Python", "Java")[0]
        assert one["probabilities"] == two["probabilities"]
        assert one["probabilities"]["FIRST"] == three["probabilities"]["SECOND"]

    def test_argumentativeness(self, source: Path, tmp_path: Path) -> None:
        assert annotate("argumentativeness", source, "-o", tmp_path / "out.jsonl") == 0
        assert all(0 <= each["argumentativeness"] <= 1 for each in read(tmp_path / "out.jsonl"))

    def test_other_fields_stay_as_they_are_written(self, tmp_path: Path) -> None:
        source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        kept = r'"a":1.50,"b":123456789012345678901234567890,"c":"\u00e9\/","d":[1, 2],"e":1e400'
        source.write_bytes(b"\xef\xbb\xbf{" + kept.encode() + b',"text":"t"}\r\n\n \n')
        assert annotate("quality", source, "-o", output) == 0
        assert output.read_text().startswith("{" + kept + ',"text":"t","quality":0.')
        assert output.read_text().count("\n") == 1

    def test_half_characters(self, tmp_path: Path) -> None:
        source, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
        source.write_text('{"text": "half \\ud83d", "n": 12345678901234567890123}\n')
        assert annotate("quality", source, "-o", output) == 0
        assert read(output)[0]["text"] == "half \ufffd"
        assert read(output)[0]["n"] == 12345678901234567890123


class TestPlaces:
    def test_pipes(self, source: Path) -> None:
        found = subprocess.run(
            command("quality", "-"), input=source.read_bytes(), capture_output=True, check=True
        )
        assert [json.loads(line)["id"] for line in found.stdout.splitlines()[:2]] == [1, "2"]
        assert found.stderr == b""

    def test_from_a_pipe_into_a_file(
        self, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stream = io.TextIOWrapper(io.BytesIO(source.read_bytes()))
        monkeypatch.setattr(sys, "stdin", stream)
        assert annotate("quality", "-", "-o", tmp_path / "out.jsonl") == 0
        assert len(read(tmp_path / "out.jsonl")) == len(RECORDS)

    def test_into_a_named_pipe(self, source: Path, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(command("quality", source, "-o", pipe)) as process:
            assert len(pipe.read_bytes().splitlines()) == len(RECORDS)
        assert process.returncode == 0

    def test_a_reader_that_has_seen_enough(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.jsonl", [{"text": f"reason {n}"} for n in range(300)])
        with subprocess.Popen(
            command("quality", source), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
        assert process.returncode == 0

    def test_gzip(self, source: Path, tmp_path: Path) -> None:
        zipped, output = tmp_path / "in.gz", tmp_path / "out.jsonl.gz"
        zipped.write_bytes(gzip.compress(source.read_bytes()))
        assert annotate("quality", zipped, "-o", output) == 0
        assert len(gzip.decompress(output.read_bytes()).splitlines()) == len(RECORDS)

    def test_nothing_in_nothing_out(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.jsonl", [])
        for name in ("out.jsonl", "out.jsonl.gz"):
            assert annotate("quality", source, "-o", tmp_path / name) == 0
        assert (tmp_path / "out.jsonl").read_bytes() == b""
        assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == b""

    def test_in_its_own_place_and_through_a_link(self, source: Path, tmp_path: Path) -> None:
        link = tmp_path / "link.jsonl"
        link.symlink_to(source)
        assert annotate("argumentativeness", source, "-o", link) == 0
        assert link.is_symlink()
        assert all("argumentativeness" in record for record in read(source))


class TestBadInput:
    @pytest.mark.parametrize(
        ("task", "line", "found"),
        [
            ("quality", "{}", "found no 'text'"),
            ("quality", '{"text": null}', "'text' is no text"),
            ("quality", '{"text": 3}', "'text' is no text"),
            ("quality", "[1]", "got `array`"),
            ("quality", '{"text": "a"', "truncated"),
            ("quality", '{"text": NaN}', "JSON"),
            ("quality", '{"text": ' + "[" * 100_000, "recursion"),
            ("quality", '{"text": "\udcff"}', "not UTF-8"),
            ("stance", '{"text": "a"}', "found no 'topic'"),
            ("comparison", '{"text": "a", "first": "b"}', "found no 'second'"),
            ("comparison", '{"text": "a", "question": "Why?"}', "names no two objects"),
            ("comparison", '{"text": "a"}', "found no 'first'"),
        ],
    )
    def test_one_line_says_where_and_what(
        self,
        failing: Callable[..., tuple[int, str]],
        tmp_path: Path,
        task: str,
        line: str,
        found: str,
    ) -> None:
        source = tmp_path / "in.jsonl"
        good = json.dumps({"text": "a", "topic": "b", "first": "c", "second": "d"})
        source.write_bytes(f"{good}\n\n{line}\n".encode("utf-8", "surrogateescape"))
        status, error = failing("annotate", task, source, "-o", tmp_path / "out.jsonl")
        assert status == 1
        assert error.startswith(f"sicetnon: {source}, line 3: the record cannot be used: ")
        assert found in error
        assert 'expected {"text": "…"' in error
        check_tidy(tmp_path, "in.jsonl")

    def test_files(self, failing: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
        status, error = failing("annotate", "quality", tmp_path / "none", "-o", tmp_path / "out")
        assert (status, "cannot be read" in error) == (1, True)
        source = write(tmp_path / "in.jsonl", RECORDS)
        for output in (tmp_path, tmp_path / "none" / "out"):
            status, error = failing("annotate", "quality", source, "-o", output)
            assert (status, "expected the name of a file" in error) == (2, True)
        check_tidy(tmp_path, "in.jsonl")

    def test_usage(self, failing: Callable[..., tuple[int, str]], source: Path) -> None:
        for arguments in (["beauty", source], ["quality"], ["quality", source, "--threads", "0"]):
            assert failing("annotate", *arguments)[0] == 2
        status, error = failing("annotate", "quality", source, "--model", "./none")
        assert (status, "no such folder" in error) == (2, True)

    def test_a_mended_record_is_gone_on_with(
        self, failing: Callable[..., tuple[int, str]], tmp_path: Path
    ) -> None:
        records: list[dict[str, Any]] = [{"text": f"reason {n}"} for n in range(300)]
        output = tmp_path / "out.jsonl"
        source = write(tmp_path / "in.jsonl", [*records[:200], {"txt": ""}])
        assert failing("annotate", "quality", source, "-o", output)[0] == 1
        write(source, records)
        assert annotate("quality", source, "-o", output) == 0
        assert [each["text"] for each in read(output)] == [each["text"] for each in records]


def test_parts_are_named_after_the_output() -> None:
    assert (PART, LOG) == (".part", ".part-log")
