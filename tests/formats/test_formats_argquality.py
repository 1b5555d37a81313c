"""Arguments with judgments of their quality: Webis-ArgQuality-20 and Dagstuhl-15512."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sicetnon.errors import DataError
from sicetnon.formats.argquality import majority, read_quality
from support.quality_files import BAD, WEBIS_COLUMNS, dagstuhl, webis


class TestFormats:
    def test_webis(self, tmp_path: Path) -> None:
        arguments = read_quality(webis(tmp_path))
        assert len(arguments) == 60
        assert arguments[1].text == f"{BAD}\n0"
        assert (arguments[0].id, arguments[0].scores["combined"]) == ("7/0", 1.0)

    def test_dagstuhl_as_table(self, tmp_path: Path) -> None:
        first, second = read_quality(dagstuhl(tmp_path))
        assert (first.labels["overall"], second.labels["overall"]) == (1, 3)
        assert first.text == "It’s a"
        assert first.topic == "tv/pro"

    def test_dagstuhl_as_json(self, tmp_path: Path) -> None:
        path = tmp_path / "d.json"
        means = {"ArgumentationQuality": 1.667, "Cogency": 1.333}
        path.write_text(json.dumps(
            [{"issue": "i", "stance": "s", "id": "1", "text": "t", "scores_mean": means}]
        ))  # fmt: skip
        (argument,) = read_quality(path)
        assert argument.labels == {"overall": 2, "cogency": 1}

    def test_majority(self) -> None:
        assert [majority(x) for x in ([1, 1, 3], [1, 2, 3], [3], [2, 3])] == [1, 2, 3, 3]

    @pytest.mark.parametrize("text", ["[1]", "a\tb\n1\t2\n", f"{WEBIS_COLUMNS}\n", ""])
    def test_what_is_neither_is_told(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "x"
        path.write_text(text)
        with pytest.raises(DataError):
            read_quality(path)

    def test_a_score_that_is_no_number(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="expected a number"):
            read_quality(webis(tmp_path, "high"))

    def test_the_real_files(self, data: Path) -> None:
        folder = data / "train" / "quality"
        assert len(read_quality(folder / "dagstuhl-15512-partial.json")) == 51
        assert len(read_quality(folder / "webis-argquality20-arguments.csv")) == 1271
