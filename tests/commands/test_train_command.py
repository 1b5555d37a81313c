"""The command `train`, and runs with what was learned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sicetnon.cli import main
from sicetnon.formats.runs import read_run
from sicetnon.uva import text_models as uva
from support.quality_files import BAD, GOOD, dagstuhl, webis


class TestCommands:
    def test_train_and_run_task_1(
        self, tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("sklearn")
        models = tmp_path / "models"
        monkeypatch.setenv("SICETNON_MODELS", str(models))
        source = str(webis(tmp_path))
        assert main(["train", "uva-quality", source, "--encoder", "words-averaged"]) == 0
        assert main(["train", "uva-ranker", source, "--no-entities"]) == 0
        card = json.loads((models / "uva-ranker.json").read_text())
        assert card["encoder"] == "words-averaged"
        assert card["command"] == "sicetnon train uva-ranker webis.csv --no-entities"
        scores = uva.StrengthRanker.read().score([GOOD, BAD])
        assert scores[0] > scores[1]
        out = tmp_path / "out"
        call = ["run", "touche-2020-task-1", "-i", str(sample / "input"), "-o", str(out)]
        assert main([*call, "--system", "uva"]) == 0
        assert len({line.topic for line in read_run(out / "run.txt")}) > 1

    def test_train_argumentativeness(
        self, tmp_path: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("sklearn")
        monkeypatch.setenv("SICETNON_MODELS", str(tmp_path))
        others = tmp_path / "others.jsonl"
        texts = [
            f"The device number {n} has two ports and a grey case of steel." for n in range(40)
        ]
        lines = [json.dumps({"id": str(n), "contents": text}) for n, text in enumerate(texts)]
        others.write_text("\n".join(lines))
        call = ["train", "uva-argumentativeness", str(sample / "input"), "--others", str(others)]
        assert main(call) == 0
        classifier = uva.TextClassifier.read(uva.ARGUMENTATIVENESS)
        assert classifier.is_good([texts[0]]).tolist() == [False]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["uva-argumentativeness", "x"], "--others goes with"),
            (["uva-quality", "x", "--others", "y"], "--others goes with"),
            (["uva-quality", "x", "--encoder", "z"], "unknown encoder"),
            (["uva-ranker", "x", "--encoder", "minilm-first"], "train it again first"),
        ],
    )
    def test_wrong_usage(
        self,
        words: list[str],
        message: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setenv("SICETNON_MODELS", str(tmp_path))
        assert main(["train", *words]) == 2
        assert message in capsys.readouterr().err

    def test_one_class_is_not_enough(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("sklearn")
        path = tmp_path / "d.json"
        item = {"issue": "i", "stance": "s", "id": "1", "text": "t",
                "scores_mean": {"ArgumentationQuality": 1.0}}  # fmt: skip
        path.write_text(json.dumps([item] * 3))
        assert main(["train", "uva-quality", str(path), "-o", str(tmp_path)]) == 2
        assert "one class" in capsys.readouterr().err

    def test_a_row_without_its_last_cell(self, tmp_path: Path, failing) -> None:
        path = webis(tmp_path)
        header, row, *rest = path.read_text().split("\n")
        path.write_text("\n".join([header, row.rpartition(",")[0], *rest]))
        status, line = failing("train", "uva-quality", path, "-o", tmp_path)
        assert status == 1
        assert line.startswith(f"sicetnon: {path}, line 2: found no column Combined Quality; ")

    @pytest.mark.parametrize("scores", [{"Cogency": 1.0}, {}])
    def test_an_argument_without_an_overall_label(
        self, scores: dict[str, float], tmp_path: Path, failing
    ) -> None:
        table = dagstuhl(tmp_path)
        # no annotator could judge the argument as a whole
        table.write_bytes(table.read_bytes().replace(b"\t3 (High)\t3", b"\t?\t3"))
        table.write_bytes(table.read_bytes().replace(b"\t2 (Average)\t2", b"\t?\t2"))
        means = tmp_path / "d.json"
        item = {"issue": "i", "stance": "s", "id": "b", "text": "t", "scores_mean": scores}
        means.write_text(json.dumps([item]))
        for path in (table, means):
            status, line = failing("train", "uva-quality", path, "-o", tmp_path)
            assert status == 1
            assert line.startswith(f"sicetnon: {path}: argument b has no label of overall quality;")
