"""The files of a trained ranker: its parameters as JSON, and a card that describes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from sicetnon.evaluation import experiment
from sicetnon.formats.files import write_whole
from sicetnon.platforms import make_folder
from sicetnon.ranker.features import FEATURES
from sicetnon.ranker.labels import Examples
from sicetnon.ranker.model import FILE, RankerModel
from sicetnon.ranker.training import MEASURE, Folds, fit

_CARD = """# The ranker of the system `answers`
Two linear models over features of an argument that was found for a question. *On topic* gives the
probability that the argument is squarely about the question (logistic regression). *Strength* gives
its strength from 0 to 3 (ridge regression). `{file}` has the parameters, and the code is in
`sicetnon/ranker`.

score = min(p, {enough:g}) / {enough:g} · (strength + {lexical:g} · lexical score), divided by its
greatest value

- **Trained by:**
  `{command}`
- **Trained on:** {read} arguments that were read for {questions} questions.
- **Features chosen** on the labels that the project trains on, by the loss of models that learn
  from all questions but one. The two numbers in the score were chosen on them too. A large language
  model gave these labels, not a person.

## What it scores
nDCG@5 with the strength as gain where an argument is squarely about the question, else 0. What was
not read is left out, and so are questions without any gain ({counted} count). Each question is
ranked by models that learnt from all others.

| system | nDCG@5 |
|---|---|
| `default` | {default:.3f} |
| `answers` | {answers:.3f} |

## Features
Weights are per standard deviation: of the log odds of being on topic, and of strength. Importance
is what nDCG@5 loses when the feature is shuffled over all candidates (mean of ten).

| feature | meaning | range | on topic | strength | importance |
|---|---|---|---|---|---|
{rows}
"""


def train(examples: Examples, folder: Path, command: str) -> dict[str, float]:
    """Fit the ranker, and write parameters and card.

    Returns:
        NDCG@5 of the default system and, leaving one question out, of `answers`.
    """
    model, folds = fit(examples), Folds(examples)
    gains = examples.gains()
    before = experiment([examples.rankings], None, gains, MEASURE).scores[0]
    after = folds.score()
    text = _CARD.format(
        file=FILE,
        command=command,
        read=int((examples.relevance >= 0).sum()),
        questions=len(examples.questions),
        counted=len(gains),
        enough=model.enough,
        lexical=model.lexical,
        default=before.mean,
        answers=after.mean,
        rows="\n".join(_rows(model, folds.importance())),
    )
    make_folder(folder)
    parameters = msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"
    write_whole({folder / FILE: parameters, folder / "CARD.md": text})
    return {"nDCG@5 of default": before.mean, "nDCG@5 of answers": after.mean}


def _rows(model: RankerModel, importance: Mapping[str, float]) -> list[str]:
    """The rows of the table of features, the most important ones first."""
    rows = []
    for feature in sorted(FEATURES, key=lambda each: -importance.get(each.name, 0.0)):
        weights = [
            f"{found.weight:+.3f}" if (found := linear.weights.get(feature.name)) else ""
            for linear in (model.on_topic, model.strength)
        ]
        low_high = f"{feature.low:g} to {feature.high:g}"
        cells = [f"`{feature.name}`", feature.meaning, low_high, *weights]
        rows.append(f"| {' | '.join(cells)} | {importance.get(feature.name, 0.0):+.4f} |")
    return rows
