"""Hugging Face sequence classifiers in place of the shipped model.

This needs torch and transformers (extra `neural`). Weights are read from safetensors only, because
other formats can run code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sicetnon.arguments.models.model_files import crc32
from sicetnon.errors import DataError, UsageError, needing
from sicetnon.formats.json_records import name_of, valid_text

WINDOW, OVERLAP, CONTEXT = 256, 64, 64
_BATCH_TOKENS = 2048
_PORTION_TEXTS = 256
_LETTERS = re.compile(r"[\W_]+")

# labels of classifiers for each class; letters and digits only, in lower case
LABELS: Mapping[str, Mapping[str, str]] = {
    "quality": {
        "good": "good high strong better best convincing highquality goodquality",
        "bad": "bad low weak worse worst unconvincing lowquality badquality poor",
    },
    "argumentativeness": {
        "yes": "argument argumentative arg yes true claim premise claims premises majorclaim "
        "argumentfor argumentagainst isargument",
        "no": "nonargument noargument nonargumentative notargumentative notargument nonarg noarg "
        "no false none neither other o notanargument",
    },
    "stance": {
        "PRO": "pro support supports supporting supportive favor favour infavor infavour for "
        "agree agrees entailment positive argumentfor affirm affirms",
        "CON": "con contra against oppose opposes opposing attack attacks disagree disagrees "
        "contradiction negative argumentagainst refute refutes deny denies",
        "NONE": "none neutral neither unrelated noargument nostance norelation unknown other",
    },
    "comparison": {
        "FIRST": "first better firstbetter object1 obj1 profirst prefersfirst firstobject",
        "SECOND": "second worse secondbetter object2 obj2 prosecond preferssecond secondobject",
        "NEUTRAL": "neutral equal both tie",
        "NO": "no none nostance neither unrelated",
    },
}
_NEEDED = {
    "quality": ("good",),
    "argumentativeness": ("yes",),
    "stance": ("PRO", "CON"),
    "comparison": ("FIRST", "SECOND"),
}


class _Part(NamedTuple):
    """A window of a text: the number of the text, the inputs of the model, the number of tokens."""

    owner: int
    inputs: dict[str, list[int]]
    weight: int


class NeuralClassifier:
    """A Hugging Face sequence classifier for one task.

    Args:
        model: A folder, or a name on the hub. The model is downloaded if it is not in the cache,
            unless `HF_HUB_OFFLINE` is set.
        task: A key of `LABELS`.
        threads: Processor cores to use at most; all when left out.

    Raises:
        MissingExtraError: torch or transformers is missing.
        DataError: The model cannot be loaded.
        UsageError: Its labels are not the task's.
    """

    def __init__(self, model: str, task: str, threads: int | None = None):
        self._torch, transformers = _libraries()
        if threads:
            self._torch.set_num_threads(threads)
        self._folder = Path(model).expanduser()
        is_local = self._folder.is_dir()
        self._name, self._task = model, task
        where = str(self._folder) if is_local else model
        try:
            # left out, the libraries ask at a terminal whether to run the code of a model
            shared = {"local_files_only": is_local, "trust_remote_code": False}
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(where, **shared)
            self._model = transformers.AutoModelForSequenceClassification.from_pretrained(
                where, use_safetensors=True, **shared
            ).eval()
        except Exception as error:  # the library's errors have no common class
            raise DataError(f"the model {model} cannot be loaded: {first_line(error)}") from None
        config = self._model.config
        labels = [str(config.id2label[place]) for place in range(config.num_labels)]
        self._places = places_of(labels, task, model)
        self._is_regression = len(labels) == 1
        self._frame = self._tokenizer.num_special_tokens_to_add(pair=True)
        places = getattr(config, "max_position_embeddings", None) or WINDOW
        # the positions of RoBERTa begin at 2
        most = min(self._tokenizer.model_max_length, places - 2) - self._frame
        self._context = min(CONTEXT, most // 4)
        self._window = min(WINDOW, most - self._context)
        if not self._tokenizer.is_fast or self._window <= OVERLAP:
            raise DataError(f"the model {model} cannot be used: it reads too few tokens at once")

    def identity(self) -> str:
        """Name and version (on the hub) or checksum (on disk)."""
        commit = getattr(self._model.config, "_commit_hash", None)
        if commit or not self._folder.is_dir():
            return f"{self._name} {commit or ''}".strip()
        crc = 0
        for path in sorted(self._folder.iterdir()):
            if path.suffix in (".json", ".safetensors", ".txt"):
                crc = crc32(path, crc)
        return f"{name_of(self._folder)} {crc:08x}"

    def read(
        self, texts: Sequence[str], contexts: Sequence[str] | None = None
    ) -> NDArray[np.float32]:
        """The outputs, shape (texts,), or (texts, classes) for stance and comparison.

        Long texts are read in overlapping windows; the output is their mean, weighted by tokens.
        """
        has_classes = self._task in ("stance", "comparison")
        shape = (len(texts), len(self._places)) if has_classes else (len(texts),)
        found = np.zeros(shape, dtype=np.float32)
        for start in range(0, len(texts), _PORTION_TEXTS):
            portion = slice(start, start + _PORTION_TEXTS)
            answers = self._read(texts[portion], contexts[portion] if contexts else None)
            found[portion] = answers if has_classes else answers[:, 0]
        return found

    def _read(self, texts: Sequence[str], contexts: Sequence[str] | None) -> NDArray[np.float64]:
        parts = [
            part
            for owner, text in enumerate(texts)
            for part in self._parts(owner, text, contexts[owner] if contexts else "")
        ]
        parts.sort(key=lambda part: len(part.inputs["input_ids"]), reverse=True)
        sums = np.zeros((len(texts), len(self._places)))
        weights = np.zeros((len(texts), 1))
        start = 0
        while start < len(parts):
            size = max(_BATCH_TOKENS // len(parts[start].inputs["input_ids"]), 1)
            batch = parts[start : start + size]
            counts = np.array([[part.weight] for part in batch], dtype=np.float64)
            owners = [part.owner for part in batch]
            np.add.at(sums, owners, self._answers(batch) * counts)
            np.add.at(weights, owners, counts)
            start += size
        return sums / weights

    def _parts(self, owner: int, text: str, context: str) -> list[_Part]:
        """The windows of a text with its context, as tokens."""
        context_text, count = self._cut(valid_text(context))
        found = self._tokenizer(
            valid_text(text),
            context_text or None,
            truncation="only_first",
            max_length=self._window + count + self._frame,
            stride=OVERLAP,
            return_overflowing_tokens=True,
            verbose=False,
        )
        names = [name for name in self._tokenizer.model_input_names if name in found]
        return [
            _Part(
                owner,
                {name: found[name][place] for name in names},
                max(found.sequence_ids(place).count(0), 1),
            )
            for place in range(len(found["input_ids"]))
        ]

    def _cut(self, context: str) -> tuple[str, int]:
        """The part of a context that is read, and its number of tokens."""
        found = self._tokenizer(
            context, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        ends = [end for _, end in found["offset_mapping"][: self._context]]
        return context[: ends[-1]] if ends else "", len(ends)

    def _answers(self, batch: Sequence[_Part]) -> NDArray[np.float64]:
        """The outputs for windows, shape (windows, classes of the task)."""
        padded = self._tokenizer.pad([part.inputs for part in batch], return_tensors="pt")
        with self._torch.inference_mode():
            logits = self._model(**padded).logits.double()
        if self._is_regression:
            return np.asarray(logits.numpy(), dtype=np.float64)
        chances = logits.softmax(-1).numpy()
        columns = [chances[:, places].sum(axis=1) for places in self._places]
        return np.stack(columns, axis=1)


def places_of(labels: Sequence[str], task: str, model: str) -> list[list[int]]:
    """The outputs of a classifier for each class of a task.

    Returns:
        The numbers of the outputs for each class, none for a class that the classifier lacks; for
        quality and argumentativeness, only those of the positive class; for a regression of
        quality, its one output.

    Raises:
        UsageError: A label matches no class, or a needed class has no label.
    """
    if len(labels) == 1 and task == "quality":
        return [[0]]
    known = {word: name for name, words in LABELS[task].items() for word in words.split()}
    meant = [known.get(_LETTERS.sub("", label.lower())) for label in labels]
    if None in meant or set(_NEEDED[task]) - set(meant):
        one = " (or one output, for a regression)" if task == "quality" else ""
        raise UsageError(
            f"{model}: its labels {', '.join(labels)} cannot be matched with "
            f"{', '.join(LABELS[task])} for {task}{one}; name them so in id2label of its "
            "config.json, or choose another model"
        )
    wanted = tuple(LABELS[task])[:1] if task in ("quality", "argumentativeness") else LABELS[task]
    return [[place for place, name in enumerate(meant) if name == each] for each in wanted]


def _libraries() -> tuple[Any, Any]:
    with needing("A classifier of Hugging Face", "neural"):
        import torch
        import transformers
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return torch, transformers


def first_line(error: Exception) -> str:
    """The first line of a library's message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
