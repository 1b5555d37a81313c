"""Neural re-rankers: a cross-encoder or a bi-encoder of Hugging Face orders the best results.

Nogueira and Cho, "Passage Re-ranking with BERT", arXiv 1901.04085 (2019); Reimers and Gurevych,
"Sentence-BERT", EMNLP 2019. They need sentence-transformers (extra `neural`). The weights of a
transformer are read from safetensors only, because other formats can run code; those of layers
after it also by torch's reader of plain weights. Code that comes with a model is never run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sicetnon.argument_checks import check_number
from sicetnon.arguments.models.neural import first_line
from sicetnon.errors import DataError, UsageError, needing
from sicetnon.formats.json_records import valid_text
from sicetnon.index.reader import IndexReader
from sicetnon.ranking.stages import rescored
from sicetnon.records import Ranking, Topic

# no model reads more, and a tokenizer takes seconds for a text of megabytes
_MOST_CHARACTERS = 200_000
# of a model that states no limit
_TOKENS = 512
# the outputs "not relevant" and "relevant"
_TWO = 2


class _NeuralReranker(ABC):
    """Base of both stages: scores the best documents anew, and keeps the others below them.

    Args:
        index: The documents.
        model: A folder with a model, or a name on the Hugging Face hub.
        depth: Number of the best documents that are scored.
        batch_size: Number of texts that are read at once.
        tokens: Most tokens that are read at once; the model's own limit when left out.
        device: Such as `cpu` or `cuda`; an accelerator when left out, if there is one.
        download: Whether a model may be fetched from the hub. Otherwise a name must be in the
            cache of Hugging Face.
    """

    _kind: ClassVar[str]
    """The class of sentence-transformers."""

    def __init__(
        self,
        index: IndexReader,
        model: str | Path,
        *,
        depth: int = 100,
        batch_size: int = 32,
        tokens: int | None = None,
        device: str | None = None,
        download: bool = False,
    ):
        check_number(depth, "depth", 1)
        check_number(batch_size, "batch_size", 1)
        if tokens is not None:
            check_number(tokens, "tokens", 8)
        self._index, self._depth, self._batch_size = index, depth, batch_size
        folder = Path(model).expanduser()
        self._source = str(folder if folder.is_dir() else model)
        self._model = self._loaded(device, download)
        self._check()
        limit = self._limit()
        self._model.max_seq_length = min(tokens or limit, limit)
        self.name = f"{type(self).__name__}({Path(self._source).name})"

    def apply(self, topic: Topic, ranking: Ranking) -> Ranking:
        """The reordered ranking, with the model's scores; those of the others continue below.

        Of documents with equal scores the one that stood first goes first.
        """
        top = ranking.best(self._depth)
        if not len(top):
            return ranking
        texts = [_readable(record.default_text()) for record in self._index.records_of(top)]
        # equal texts in different batches would differ in the last digits
        distinct = list(dict.fromkeys(texts))
        by_text = dict(zip(distinct, self._checked(topic, distinct).tolist(), strict=True))
        return rescored(ranking, np.array([by_text[text] for text in texts], dtype=np.float64))

    def _checked(self, topic: Topic, texts: Sequence[str]) -> NDArray[np.float64]:
        try:
            scores = self._scores(_readable(topic.title), texts)
        except RuntimeError as error:  # what torch raises, also for want of memory
            raise DataError(
                f"the model {self._source} fails: {first_line(error)}; a smaller batch_size, or "
                "fewer tokens, takes less memory"
            ) from None
        if not np.isfinite(scores).all():
            raise DataError(
                f"the model {self._source} gives a score that is no number for "
                f"{topic.title!r:.60}; choose another model"
            )
        return scores

    def _loaded(self, device: str | None, download: bool) -> Any:
        with needing("A neural re-ranker", "neural"):
            import sentence_transformers
            import transformers
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        try:
            return getattr(sentence_transformers, self._kind)(
                self._source,
                device=device,
                local_files_only=not download,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True},
            )
        except Exception as error:  # the library's errors have no common class
            raise DataError(
                f"the model {self._source} cannot be loaded: {first_line(error)}; {self._advice()}"
            ) from None

    def _advice(self) -> str:
        if Path(self._source).is_dir():
            return "expected a folder of a model with its weights in safetensors"
        return (
            "expected a folder, or the name of a model that is on this machine already; "
            "download=True fetches it"
        )

    def _limit(self) -> int:
        """Most tokens that the model can read."""
        known = self._model.max_seq_length or _TOKENS
        for name, module in self._model.named_modules():
            if name.endswith("position_embeddings") and hasattr(module, "num_embeddings"):
                # RoBERTa and its like count positions from the one after that of padding
                before = 0 if module.padding_idx is None else module.padding_idx + 1
                return min(known, int(module.num_embeddings) - before)
        return int(known)

    def _check(self) -> None:  # noqa: B027  # most models need no check
        """Refuse a model of another kind."""

    @abstractmethod
    def _scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """The score of each text, shape (texts,)."""


class CrossEncoder(_NeuralReranker):
    """A stage: a cross-encoder of Hugging Face puts the best results in order.

    It reads the question and a document (heading and text) together, and scores the pair. The score
    is the model's output before any activation; of a model with two outputs, the second less the
    first. Text beyond the model's limit is not read. The others keep their order after the best.
    No system uses it, and nothing is fetched unless `download` is set.

    Args:
        index: The documents.
        model: A folder with a model, or a name on the Hugging Face hub.
        depth: Number of the best documents that are scored.
        batch_size: Number of documents that are read at once.
        tokens: Most tokens of question and document that are read; the model's own limit when left
            out.
        device: Such as `cpu` or `cuda`; an accelerator when left out, if there is one.
        download: Whether a model may be fetched from the hub. Otherwise a name must be in the cache
            of Hugging Face.

    Raises:
        DataError: The model is not on this machine, or cannot be used.
        MissingExtraError: sentence-transformers is not installed (extra `neural`).
        UsageError: A number is too small, or the model is no cross-encoder.
    """

    _kind = "CrossEncoder"

    def _check(self) -> None:
        self._outputs = int(self._model.num_labels)
        if not self._is_trained() or self._outputs > _TWO:
            raise UsageError(
                f"{self._source} is no cross-encoder: found {self._architecture() or 'no head'} "
                f"with {self._outputs} outputs; expected a model that scores pairs of texts (one "
                "output, or two), or use BiEncoder for a model of embeddings"
            )

    def _architecture(self) -> str:
        config = self._model.transformers_model.config
        return " ".join(getattr(config, "architectures", None) or [])

    def _is_trained(self) -> bool:
        """Whether the model has a head for scores; the library would make one at random."""
        return self._architecture().endswith(("ForSequenceClassification", "ForCausalLM"))

    def _scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        import torch

        found = self._model.predict(
            [(question, text) for text in texts],
            batch_size=self._batch_size,
            show_progress_bar=False,
            # a sigmoid would make the best documents equal
            activation_fn=torch.nn.Identity(),
        )
        scores = np.asarray(found, dtype=np.float64)
        return scores[:, 1] - scores[:, 0] if self._outputs == _TWO else scores.reshape(-1)


class BiEncoder(_NeuralReranker):
    """A stage: the similarity of embeddings puts the best results in order.

    A bi-encoder reads the question and each document (heading and text) alone; the score is the
    similarity that the model was made for, in most cases the cosine. It is faster than a
    cross-encoder, and in general worse. Text beyond the model's limit is not read. The others keep
    their order after the best. Nothing is fetched unless `download` is set.

    Args:
        index: The documents.
        model: A folder with a model, or a name on the Hugging Face hub.
        depth: Number of the best documents that are scored.
        batch_size: Number of documents that are read at once.
        tokens: Most tokens of a document that are read; the model's own limit when left out.
        device: Such as `cpu` or `cuda`; an accelerator when left out, if there is one.
        download: Whether a model may be fetched from the hub. Otherwise a name must be in the cache
            of Hugging Face.

    Raises:
        DataError: The model is not on this machine, or cannot be used.
        MissingExtraError: sentence-transformers is not installed (extra `neural`).
        UsageError: A number is too small.
    """

    _kind = "SentenceTransformer"

    def _scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        options = {
            "batch_size": self._batch_size,
            "show_progress_bar": False,
            "convert_to_tensor": True,
        }
        asked = self._model.encode_query([question], **options)
        read = self._model.encode_document(list(texts), **options)
        found = self._model.similarity(asked, read).float().cpu().numpy()
        return np.asarray(found[0], dtype=np.float64)


def _readable(text: str) -> str:
    """The part of a text that a tokenizer gets, without halves of characters."""
    return valid_text(text[:_MOST_CHARACTERS])
