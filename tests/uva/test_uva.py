"""The UvA systems: features, training, predictors, stages."""

from __future__ import annotations

import builtins
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sicetnon.errors import DataError, MissingExtraError, UsageError
from sicetnon.formats.corpora import KINDS, Corpus
from sicetnon.index.reader import IndexReader
from sicetnon.index.writing import BuildOptions, build_index
from sicetnon.records import Ranking, Topic, WebPage
from sicetnon.services.page_sources import from_index
from sicetnon.tasks.registry import find_task
from sicetnon.text.analysis import named_analysis
from sicetnon.uva import text_models as uva
from sicetnon.uva.learning import TopicFeatures, Training, score_gradient, train_ranknet
from sicetnon.uva.parameters import LearnedParameters, ModelCard, read_parameters, write_parameters
from sicetnon.uva.predictors import Perceptron, SupportVectors, predictor_of
from sicetnon.uva.systems import by_strength
from sicetnon.uva.text_models import ENCODERS, HashedWords, named_encoder
from support.quality_files import BAD, GOOD


class TestRepresentation:
    @given(st.lists(st.text(), max_size=5))
    def test_hashed_words_have_length_1_or_0(self, texts: list[str]) -> None:
        vectors = HashedWords("averaged").encode(texts)
        assert vectors.shape == (len(texts), 512)
        lengths = np.linalg.norm(vectors, axis=1)
        assert ((abs(lengths - 1) < 1e-5) | (lengths == 0)).all()

    def test_windows(self) -> None:
        text = "one " * 512 + "two " * 512
        first, averaged = HashedWords("first"), HashedWords("averaged")
        assert np.count_nonzero(first.encode([text])) == 1
        assert np.count_nonzero(averaged.encode([text])) == 2
        assert (first.encode(["one two"]) == averaged.encode(["one two"])).all()

    def test_names(self) -> None:
        assert named_encoder("words-first").name == "words-first"
        assert "minilm-averaged" in ENCODERS
        with pytest.raises(UsageError, match="unknown encoder 'x'"):
            named_encoder("x")

    def test_windows_of_a_model_are_averaged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from sicetnon.uva import text_models

        class Model:
            def tokenizer(self, text: str, **_: Any) -> dict[str, list[tuple[int, int]]]:
                return {"offset_mapping": [(n, n + 1) for n in range(len(text))]}

            def encode(self, texts: list[str], **_: Any) -> Any:
                return np.array([[text.count("a") > 0, text.count("b") > 0] for text in texts])

        monkeypatch.setattr(text_models, "_load_minilm", Model)
        text = "a" * 510 + "b" * 3
        averaged = text_models.MiniLM("averaged")
        assert np.allclose(averaged.encode([text, "a", ""]), [[0.5**0.5] * 2, [1, 0], [0, 0]])
        assert text_models.MiniLM("first").encode(["b"]).tolist() == [[0, 1]]
        assert averaged.encode([]).shape == (0, 384)

    def test_without_the_model_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from sicetnon.uva import text_models

        monkeypatch.setattr(text_models, "_MINILM", "no_such_package")
        text_models._load_minilm.cache_clear()
        with pytest.raises(MissingExtraError, match=r"sicetnon\[encoder\]"):
            text_models.MiniLM()


def gradient_by_differences(cost: Callable[[Any], float], at: Any) -> Any:
    steps = np.eye(len(at)) * 1e-6
    return np.array([(cost(at + step) - cost(at - step)) / 2e-6 for step in steps])


class TestRanking:
    def test_the_gradient_of_ranknet_is_that_of_its_cost(self) -> None:
        scores, labels = np.array([0.3, -0.2, 1.0, 0.1]), np.array([2.0, 0.0, 1.0, 1.0])

        def cost(s: Any) -> float:
            pairs = [(i, j) for i in range(4) for j in range(4) if labels[i] > labels[j]]
            return sum(float(np.log1p(np.exp(s[j] - s[i]))) for i, j in pairs) / len(pairs)

        expected = gradient_by_differences(cost, scores)
        assert np.allclose(score_gradient(scores, labels), expected, atol=1e-6)

    @pytest.mark.parametrize("pair_weights", [None, lambda scores, _: np.full((10, 10), 2.0)])
    def test_a_network_learns_an_order(self, pair_weights: Any) -> None:
        random = np.random.default_rng(1)
        topics = []
        for _ in range(12):
            features = random.normal(size=(10, 4))
            topics.append(TopicFeatures(features, np.digitize(features[:, 0], [-1, 0, 1]) * 1.0))
        network = train_ranknet(topics, Training(epochs=60), pair_weights)
        features = random.normal(size=(200, 4))
        assert np.corrcoef(network.predict(features), features[:, 0])[0, 1] > 0.9
        again = train_ranknet(topics, Training(epochs=60), pair_weights)
        assert (again.predict(features) == network.predict(features)).all()

    def test_only_the_best_are_sorted(self, index: IndexReader) -> None:
        ranking = index_ranking(index, 4)

        class Shortest:
            def score(self, texts: list[str]) -> Any:
                return -np.array([len(text) for text in texts])

        stage = by_strength(index, Shortest(), depth=3)  # type: ignore[arg-type]
        after = stage.apply(ranking.topic, ranking)
        lengths = [len(record.default_text()) for record in index.records(after.ids)]
        assert lengths[:3] == sorted(lengths[:3])
        assert set(after.ids[:3]) == set(ranking.ids[:3])
        assert after.ids[3:] == ranking.ids[3:]
        assert after.scores.tolist() == ranking.scores.tolist()


class TestParameters:
    def test_kept_and_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SICETNON_MODELS", str(tmp_path))
        network = Perceptron(np.ones((2, 3)), np.zeros(3), np.ones(3))
        card = ModelCard("x", "words-first", "perceptron", "nothing", "none")
        path = write_parameters(tmp_path, LearnedParameters(card, network.arrays()))
        read = read_parameters("x")
        assert read.card == card
        rows = np.array([[0.5, 1.0]])
        assert predictor_of(read).predict(rows) == network.predict(rows)
        path.write_bytes(b"PK\x03\x04 no more")
        with pytest.raises(DataError, match="damaged"):
            read_parameters("x")

    @pytest.mark.parametrize("header", [b"('", b"{'descr': '<f8', 1 2 3", b"\xff" * 8, b""])
    def test_an_odd_header_is_no_fault_of_ours(
        self, header: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SICETNON_MODELS", str(tmp_path))
        card = ModelCard("x", "words-first", "svm", "nothing", "none")
        path = write_parameters(tmp_path, LearnedParameters(card, {"vectors": np.ones(3)}))
        with zipfile.ZipFile(path, "w") as archive:
            content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
            archive.writestr("vectors.npy", content)
        with pytest.raises(DataError, match="the parameters are damaged"):
            read_parameters("x")

    def test_a_bomb_is_not_unpacked(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SICETNON_MODELS", str(tmp_path))
        card = ModelCard("x", "words-first", "svm", "nothing", "none")
        write_parameters(tmp_path, LearnedParameters(card, {"vectors": np.zeros(2_000_000)}))
        with pytest.raises(DataError, match="packed bytes unpack to more than 16,000,"):
            read_parameters("x")

    def test_a_pickle_is_never_loaded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SICETNON_MODELS", str(tmp_path))
        card = ModelCard("x", "words-first", "svm", "nothing", "none")
        objects = np.array([{"a": 1}], dtype=object)
        write_parameters(tmp_path, LearnedParameters(card, {"vectors": objects}))
        with pytest.raises(DataError, match="damaged"):
            read_parameters("x")

    @pytest.mark.parametrize("kind", ["svm", "perceptron", "wizard"])
    def test_what_is_missing_is_told(self, kind: str) -> None:
        with pytest.raises(DataError):
            predictor_of(LearnedParameters(ModelCard("x", "e", kind, "", ""), {}))

    def test_untrained_parts_say_how_to_train_them(self) -> None:
        with pytest.raises(UsageError, match="sicetnon train nothing"):
            read_parameters("nothing")

    def test_the_shipped_parts_fit_together(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SICETNON_MODELS", str(tmp_path))
        scores = uva.StrengthRanker.read().score([GOOD, BAD])
        assert scores[0] > scores[1]
        assert uva.TextClassifier.read(uva.ARGUMENTATIVENESS).is_good(["", GOOD]).shape == (2,)


class TestFitting:
    def test_predictors_are_those_of_scikit_learn(self) -> None:
        pytest.importorskip("sklearn")
        from sklearn.svm import SVC

        random = np.random.default_rng(0)
        rows, more = random.normal(size=(80, 6)), random.normal(size=(300, 6))
        is_good = rows[:, 0] + rows[:, 1] > 0
        svm = SVC().fit(rows, is_good)
        ours = SupportVectors.fit(rows, is_good)
        assert np.allclose(ours.predict(more), svm.decision_function(more), atol=1e-4)

    def test_without_scikit_learn_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sklearn.svm", None)
        with pytest.raises(MissingExtraError, match=r"sicetnon\[uva\]"):
            SupportVectors.fit(np.zeros((1, 1)), np.zeros(1, dtype=np.bool_))


class TestEntities:
    def test_without_spacy_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from sicetnon.uva import text_models

        whole = builtins.__import__

        def lacking(name: str, *rest: Any) -> Any:
            if name == "spacy":
                raise ImportError(name)
            return whole(name, *rest)

        text_models._pipeline.cache_clear()
        monkeypatch.setattr(builtins, "__import__", lacking)
        with pytest.raises(MissingExtraError, match=r"sicetnon\[entities\]"):
            text_models.entity_features(["a"])

    @pytest.mark.filterwarnings("ignore")
    def test_numbers_and_names(self) -> None:
        pytest.importorskip("spacy")
        from sicetnon.uva import text_models

        text_models._pipeline.cache_clear()
        try:
            found = text_models.entity_features(
                ["It costs $5 in Berlin.", "nothing here", "30% of it"]
            )
        except MissingExtraError:
            pytest.skip("no English model")
        assert found.tolist() == [[1, 1], [0, 0], [1, 0]]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("uva") / "index"
    pages = [
        WebPage(
            f"p{n}",
            "",
            "laptop or desktop " + "word " * n,
            "http://a.org/" + ("Forum/1" if n == 5 else "x"),
            "",
            1e-9 * (n % 7) if n % 3 else None,
        )
        for n in range(30)
    ]
    corpus = Corpus(*KINDS[WebPage], (Path("x"),), lambda *_: iter(pages))
    build_index(corpus, folder, BuildOptions(named_analysis("porter")))
    with IndexReader.open(folder) as index:
        yield index


def index_ranking(index: IndexReader, k: int) -> Ranking:
    found = find_task("touche-2021-task-2").system("bm25", from_index(index))
    return found.retrieve([Topic("1", "laptop")], k)[0]


class TestTaskTwo:
    @pytest.mark.parametrize(
        "system", ["uva", "uva-page-rank", "uva-domain", "uva-argumentativeness"]
    )
    def test_nothing_gets_far_from_where_it_stood(self, system: str, index: IndexReader) -> None:
        task, topic = find_task("touche-2021-task-2"), Topic("1", "laptop")
        source = from_index(index)
        before = task.system("bm25", source).retrieve([topic], 30)[0].ids
        after = task.system(system, source).retrieve([topic], 30)[0].ids
        assert sorted(after) == sorted(before)
        furthest = max(abs(before.index(name) - after.index(name)) for name in before)
        assert furthest <= (28 if system == "uva" else 10)
        if system == "uva-domain":
            # the sixth of the first chunk
            assert after[:2] == ("p5", before[0])
