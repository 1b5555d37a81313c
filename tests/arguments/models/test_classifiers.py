from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robustness.bombs import gzip_bomb
from sicetnon.arguments.models.classifiers import (
    Argumentativeness,
    Comparison,
    Embedding,
    Quality,
    Stance,
    own_folder,
    read_all,
)
from sicetnon.arguments.models.model_files import DESCRIPTION, FILES, SHIPPED, TOKENIZER
from sicetnon.arguments.models.onnx_model import (
    DebateEncoder,
    Window,
    batches_of,
    debate_encoder,
    pieces_of,
    tokens_of,
    windows_of,
)
from sicetnon.errors import DataError, MissingExtraError, UsageError
from support.shipped_model import described, with_file

Changed = Callable[[str, bytes | None], Path]

TEXTS = [
    "Uniforms hide who is poor, so nobody is bullied for it.",
    "",
    "🙂🙂 👩‍👩‍👧 🇩🇪",
    "Schuluniformen sind teuer, weil Kinder wachsen.",
    "校服很贵。",
    "[CLS] [SEP] [unused1] [MASK] ##s",
    "half a character \ud83d",
    "\x00\x1b[31m\u202e",
    "Because " * 300,
    "x" * 5000,
]
PRO = "School uniforms hide differences in income and so reduce bullying."


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """Makes a copy of the shipped model with another content of a file, or without it."""
    return partial(with_file, tmp_path / "model")


class TestAnswers:
    def test_shapes_and_ranges(self) -> None:
        quality, arguing = Quality().score(TEXTS), Argumentativeness().score(TEXTS)
        stance = Stance().probabilities(TEXTS, "Should pupils wear uniforms?")
        comparison = Comparison().probabilities(TEXTS, "uniforms", "free choice")
        for scores in (quality, arguing):
            assert scores.shape == (len(TEXTS),)
            assert scores.dtype == np.float32
            assert ((scores >= 0) & (scores <= 1)).all()
        assert stance.shape == (len(TEXTS), 3)
        assert comparison.shape == (len(TEXTS), 4)
        np.testing.assert_allclose(stance.sum(axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(comparison.sum(axis=1), 1, atol=1e-5)

    def test_no_texts(self) -> None:
        assert Quality().score([]).shape == (0,)
        assert Stance().probabilities([], "x").shape == (0, 3)
        assert Comparison().classify([], "a", "b") == []
        assert Embedding().encode([]).shape == (0, 384)

    def test_embeddings_are_unit_vectors(self) -> None:
        vectors = Embedding().encode(TEXTS)
        assert vectors.shape == (len(TEXTS), 384)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)

    def test_classes_are_the_likeliest(self) -> None:
        stance = Stance()
        chances = stance.probabilities(TEXTS, "uniforms")
        names = [stance.classes[place] for place in chances.argmax(axis=1)]
        assert stance.classify(TEXTS, ["uniforms"] * len(TEXTS)) == names

    def test_one_reading_for_several_answers(self) -> None:
        found = read_all(TEXTS, ["quality", "embedding"])
        np.testing.assert_array_equal(found["quality"], Quality().score(TEXTS))
        np.testing.assert_array_equal(found["embedding"], Embedding().encode(TEXTS))
        with pytest.raises(UsageError, match="unknown outputs stance"):
            read_all(TEXTS, ["stance"])

    def test_a_text_is_no_list_of_texts(self) -> None:
        with pytest.raises(UsageError, match="expected a list"):
            Quality().score("one text")
        with pytest.raises(UsageError, match="found NoneType None; expected a text"):
            Quality().score([None])  # type: ignore[list-item]
        with pytest.raises(UsageError, match="found int 5; expected a text"):
            Comparison().classify(["a text"], [5], "b")  # type: ignore[list-item]
        with pytest.raises(UsageError, match="2 values for 1 text;"):
            Stance().classify(["a"], ["b", "c"])


class TestBatches:
    def test_a_text_does_not_depend_on_those_beside_it(self) -> None:
        # eight-bit numbers are scaled by the largest in a batch, so the shipped graph reads alone
        model, topic = Quality(), "Should pupils wear uniforms?"
        together = model.score(TEXTS)
        alone = np.concatenate([model.score([text]) for text in TEXTS])
        np.testing.assert_allclose(together, alone, atol=1e-3)
        sides = Stance().probabilities(TEXTS, topic)
        single = np.concatenate([Stance().probabilities([text], topic) for text in TEXTS])
        np.testing.assert_allclose(sides, single, atol=1e-3)

    def test_order_is_kept(self) -> None:
        found = Quality().score(TEXTS)
        np.testing.assert_array_equal(Quality().score(TEXTS[::-1])[::-1], found)

    def test_threads_change_nothing(self) -> None:
        np.testing.assert_array_equal(
            Quality(threads=1).score(TEXTS), Quality(threads=3).score(TEXTS)
        )
        with pytest.raises(UsageError, match="expected at least 1"):
            Quality(threads=0)

    def test_portions_change_nothing(self) -> None:
        whole = DebateEncoder().answers(TEXTS, outputs=["quality"])["quality"]
        found = DebateEncoder(portion_characters=40).answers(TEXTS, outputs=["quality"])["quality"]
        np.testing.assert_array_equal(found, whole)

    def test_batches_when_the_model_allows_them(self, changed: Changed) -> None:
        folder = changed("model.json", described(batch=1024))
        found = Embedding(folder).encode(TEXTS)
        assert ((found * Embedding().encode(TEXTS)).sum(axis=1) > 0.9).all()

    @given(st.lists(st.integers(0, 300), max_size=30), st.integers(0, 1000))
    def test_batches_are_bounded_and_complete(self, lengths: list[int], most: int) -> None:
        found = [
            Window(owner, np.zeros(length, np.int64), np.zeros(0, np.int64))
            for owner, length in enumerate(lengths)
        ]
        batches = batches_of(found, most)
        assert sorted(each.owner for batch in batches for each in batch) == [*range(len(lengths))]
        for batch in batches:
            padded = len(batch) * max(each.length for each in batch)
            assert len(batch) == 1 or padded <= most


class TestWindows:
    @given(st.integers(0, 2000), st.integers(2, 300), st.data())
    def test_windows_cover_the_text(self, count: int, size: int, data: st.DataObject) -> None:
        overlap = data.draw(st.integers(0, size - 1))
        tokens = np.arange(count)
        found = windows_of(0, tokens, np.zeros(0, np.int64), size, overlap)
        assert len(found) == 1 or all(len(each.tokens) <= size for each in found)
        assert set(np.concatenate([each.tokens for each in found]).tolist()) == set(range(count))
        for before, after in itertools.pairwise(found):
            assert before.tokens[-1] - after.tokens[0] + 1 == overlap

    def test_windows_are_averaged_by_their_tokens(self) -> None:
        reader = debate_encoder()
        text = " ".join(f"reason {number} is good because it helps." for number in range(60))
        (tokens,) = tokens_of(reader.files.tokenizer, [text])
        assert len(tokens) > 300
        none = np.zeros(0, np.int64)
        named = reader.description
        parts = windows_of(0, tokens, none, named.window, named.overlap)
        outputs = ("argumentativeness", "quality")
        answers = [reader._run([part], outputs) for part in parts]
        weights = [len(part.tokens) for part in parts]
        argued, good = (
            np.average([each[output][0] for each in answers], weights=weights) for output in outputs
        )
        found = reader.answers([text], outputs=outputs)
        assert found["argumentativeness"][0] == pytest.approx(argued, abs=1e-6)
        odds = good / (1 - good) * (min(len(tokens), 400) / 64) ** named.longer
        assert found["quality"][0] == pytest.approx(odds / (1 + odds), abs=1e-5)

    def test_a_side_is_read_in_windows_of_a_few_sentences(self) -> None:
        reader = debate_encoder()
        size, overlap = reader.description.narrow["stance"]
        assert size < reader.description.window
        text = "Uniforms are cheap and save time. " * 30
        (tokens,), (topic,) = (
            tokens_of(reader.files.tokenizer, [each]) for each in (text, "Uniforms")
        )
        parts = windows_of(0, tokens, topic, size, overlap)
        answers = [reader._run([part], ("stance",))["stance"][0] for part in parts]
        expected = np.average(answers, axis=0, weights=[len(part.tokens) for part in parts])
        found = reader.answers([text], ["Uniforms"], ["stance", "quality"])
        np.testing.assert_allclose(found["stance"][0], expected, atol=1e-6)

    @given(st.text(alphabet="ab 🙂校\n", max_size=200))
    def test_pieces_make_the_text(self, text: str) -> None:
        pieces = list(pieces_of(text, 7))
        assert "".join(pieces) == text
        assert max(map(len, pieces)) <= 7

    def test_pieces_have_the_tokens_of_the_text(self) -> None:
        tokenizer = debate_encoder().files.tokenizer
        text = "Éducation isn't free; 校服 [unused1] " * 50
        (whole,) = tokens_of(tokenizer, [text])
        np.testing.assert_array_equal(tokens_of(tokenizer, [text], 64)[0], whole)

    def test_a_long_text_changes_no_other(self) -> None:
        long = "Uniforms are cheap. " * 600
        scores = Quality().score([long, "short"])
        assert np.isfinite(scores).all()
        assert scores[1] == Quality().score(["short"])[0]

    def test_context_is_cut(self) -> None:
        stance = Stance()
        long = "uniform " * 64
        np.testing.assert_array_equal(
            stance.probabilities([PRO], long), stance.probabilities([PRO], long + "other " * 500)
        )


class TestComparison:
    @settings(max_examples=30)
    @given(
        st.lists(
            st.tuples(
                st.text(max_size=60),
                st.text(min_size=1, max_size=12),
                st.text(min_size=1, max_size=12),
            ),
            min_size=1,
            max_size=3,
        )
    )
    def test_swapping_the_objects_swaps_the_answer(self, cases: list[tuple[str, str, str]]) -> None:
        model = Comparison()
        texts = [f"{text} {first} is better than {second}" for text, first, second in cases]
        firsts, seconds = [each[1] for each in cases], [each[2] for each in cases]
        found = model.probabilities(texts, firsts, seconds)
        swapped = model.probabilities(texts, seconds, firsts)
        np.testing.assert_array_equal(found[:, [1, 0, 2, 3]], swapped)
        turned = {"FIRST": "SECOND", "SECOND": "FIRST"}
        labels = [turned.get(each, each) for each in model.labels(found)]
        assert model.labels(swapped) == labels

    def test_an_object_and_itself_come_out_even(self) -> None:
        chances = np.array([[0.4, 0.4, 0.1, 0.1], [0.1, 0.1, 0.2, 0.6]], dtype=np.float32)
        assert Comparison().labels(chances) == ["NEUTRAL", "NO"]

    def test_what_looks_like_a_mark_in_a_text_is_none(self) -> None:
        model = Stance()
        plain = model.probabilities(["( unused1 ) is good"], "( unused2 )")
        np.testing.assert_array_equal(
            model.probabilities(["[unused1] is good"], "[unused2]"), plain
        )


class TestFolders:
    @pytest.mark.parametrize("name", FILES)
    @pytest.mark.parametrize("content", [None, b"", b"{}", b"\x08\x01garbage"])
    def test_damaged_files_are_named(
        self, changed: Changed, name: str, content: bytes | None
    ) -> None:
        folder = changed(name, content)
        (folder / "config.json").touch()  # else a folder without model.json is no model at all
        with pytest.raises(DataError, match=name) as caught:
            DebateEncoder(folder).answers(["a text"])
        assert "the model cannot be used" in str(caught.value)
        assert caught.value.file == folder / name

    @pytest.mark.parametrize("name", [TOKENIZER, DESCRIPTION])
    def test_no_file_is_read_beyond_the_limits(self, changed: Changed, name: str) -> None:
        folder = changed(name, b"")
        bomb = gzip_bomb(folder / name, b"a" * 1024, b'{"x": "', 512 << 20).read_bytes()
        if name == TOKENIZER:
            known = json.loads((folder / DESCRIPTION).read_text())
            known["checksums"][TOKENIZER] = f"{zlib.crc32(bomb):08x}"
            (folder / DESCRIPTION).unlink()
            (folder / DESCRIPTION).write_text(json.dumps(known))
        (folder / "config.json").touch()
        tracemalloc.start()
        try:
            with pytest.raises(DataError, match="SICETNON_MAX_"):
                DebateEncoder(folder).answers(["a text"])
            assert tracemalloc.get_traced_memory()[1] < 128 << 20
        finally:
            tracemalloc.stop()

    def test_other_graphs_are_refused(self, changed: Changed) -> None:
        data = (
            (SHIPPED / "argumentativeness.onnx")
            .read_bytes()
            .replace(b"argumentativeness", b"argumentativenesz")
        )
        with pytest.raises(DataError, match="its checksum is"):
            Argumentativeness(changed("argumentativeness.onnx", data)).score(["a"])

    def test_windows_must_fit(self, changed: Changed) -> None:
        with pytest.raises(DataError, match="do not fit"):
            DebateEncoder(changed("model.json", described(overlap=256)))

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"narrow": {"stances": [48, 16]}}, "narrow names stances, which is no output"),
            ({"narrow": {"stance": [16, 48]}}, "do not fit"),
            ({"narrow": {"stance": [5000, 16]}}, "cannot be used"),
            ({"longer": -1}, "longer is -1, not from 0 to 10"),
            ({"longer": 1e300}, "longer is 1e\\+300, not from 0 to 10"),
        ],
    )
    def test_odd_settings_are_refused(
        self, changed: Changed, settings: dict[str, object], message: str
    ) -> None:
        folder = changed("model.json", described(**settings))
        with pytest.raises(DataError, match=message):
            DebateEncoder(folder).answers(["a reason " * 1000], ["topic"], ["stance"])

    def test_other_classes_are_refused(self, changed: Changed) -> None:
        with pytest.raises(UsageError, match="YES, NO"):
            Stance(changed("model.json", described(stances=["YES", "NO"])))

    def test_no_folder(self, tmp_path: Path) -> None:
        for name in ("./absent", "~/absent", str(tmp_path / "absent"), "a/b/c"):
            with pytest.raises(UsageError, match="no such folder"):
                own_folder(name)
        with pytest.raises(UsageError, match=r"neither model.json nor config.json"):
            own_folder(tmp_path)
        assert own_folder("owner/name") is None
        with pytest.raises(UsageError, match="only a debate model has embeddings"):
            Embedding("owner/name")
        with pytest.raises(UsageError, match="only a debate model has several outputs"):
            read_all(["a"], ["quality"], model="owner/name")

    def test_identity_tells_models_apart(self, changed: Changed) -> None:
        other = changed("model.json", described(version="other"))
        assert Quality().identity() == Embedding().identity() != Quality(other).identity()


class TestMissing:
    @pytest.mark.parametrize("name", ["torch", "transformers"])
    def test_other_classifiers_need_an_extra(
        self, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for library in ("torch", "transformers"):
            monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(MissingExtraError, match=r"sicetnon\[neural\]"):
            Quality("owner/name")

    def test_nothing_heavy_is_loaded_before_a_text_is_read(self) -> None:
        code = (
            "import sys; from sicetnon.arguments.models.classifiers import Quality; Quality();"
            "print([m for m in ('onnxruntime', 'torch', 'transformers', 'numba')"
            " if m in sys.modules])"
        )
        command = [sys.executable, "-c", code]
        assert subprocess.run(command, capture_output=True, check=True).stdout.strip() == b"[]"

    def test_no_library_keeps_an_id_of_the_device(self, tmp_path: Path) -> None:
        # ONNX Runtime 1.31 would write one into this folder, and send events
        code = "from sicetnon import Quality; Quality().score(['Tenure costs money.'])"
        environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
        environment.pop("ORT_DISABLE_TELEMETRY", None)
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        assert not [path for path in tmp_path.rglob("*") if "onnx" in path.name.lower()]


class TestPreparing:
    def test_a_prepared_graph_is_opened_once_and_gives_the_same(self) -> None:
        encoder = DebateEncoder()
        encoder.load_ahead("embedding")
        encoder.load_ahead("embedding", "side")
        texts = ["Tenure is fair", "校服 are not"]
        found = encoder.answers(texts, outputs=["embedding"])["embedding"]
        np.testing.assert_array_equal(found, Embedding().encode(texts))
        encoder.files.session("sides.onnx")
        assert set(encoder.files._sessions) == {"embedding.onnx", "sides.onnx"}

    def test_damage_is_told_to_whoever_uses_the_graph(self, changed: Changed) -> None:
        encoder = DebateEncoder(changed("embedding.onnx", b"garbage"))
        encoder.load_ahead("embedding")
        with pytest.raises(DataError, match=r"embedding\.onnx"):
            encoder.answers(["a text"], outputs=["embedding"])
