"""Weighting models as scripts of the engine: bounds of their scores, which pick candidates.

A script gets a term's weighted frequency as `_score` and the lengths of the fields as doc values.
The engine computes in single precision and takes no score below 0, so that a script gives a bound:
never below the model's score but for rounding. The scores themselves are computed by our own code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sicetnon.cluster.layout import length_field
from sicetnon.retrieval.statistics import CollectionStatistics
from sicetnon.retrieval.weighting import (
    BM25,
    DLH,
    DPH,
    PL2,
    TFIDF,
    DirichletLM,
    JelinekMercer,
    WeightingModel,
)

DOCUMENT_OFFSET = 16.0
"""Added to ln(µ / (µ + length)), so that no score is below 0: lengths up to e^16 · µ."""

_LOG2 = "0.6931471805599453"
_FORMULAS: dict[type[WeightingModel], str] = {
    BM25: "params.a*t/(t+params.k1*(1-params.b+params.b*l/params.average))+params.c",
    DirichletLM: "Math.log(1+params.a*t)+Math.log(params.mu/(params.mu+l))",
    JelinekMercer: "Math.log(1+params.a*t/l)",
    DPH: "{double f=t/l;if(f>=1){return 0;}double g=t*Math.log(params.a*f)+0.5*Math.log("
    f"2*Math.PI*t*(1-f));return Math.max(0,(1-f)*(1-f)/(t+1)*g/{_LOG2})}}",
    DLH: "{double f=Math.min(t/l,1-1e-9);double g=t*Math.log(params.a*f)+(l-t)*Math.log(1-f)+"
    f"0.5*Math.log(2*Math.PI*t*(1-f));return Math.max(0,g/{_LOG2}/(t+0.5))}}",
    PL2: f"{{double n=t*Math.log(1+params.k*params.average/l)/{_LOG2};double g=n*Math.log("
    f"n/params.a)/{_LOG2}+(params.a-n)/{_LOG2}+0.5*Math.log(2*Math.PI*n)/{_LOG2};"
    "return Math.max(0,g/(n+1))}",
    TFIDF: "params.a*(t>1?1+Math.log(1+Math.log(t)):t)/(1-params.b+params.b*l/params.average)",
}
_FULL_DIRICHLET = "Math.log(1+params.a*t)"


def has_script(model: WeightingModel) -> bool:
    """Whether a model has a script; a user's own model has none."""
    return type(model) in _FORMULAS


def term_script(
    model: WeightingModel,
    columns: Sequence[float],
    constants: Sequence[float],
    collection: CollectionStatistics,
) -> dict[str, Any]:
    """The script of a term's score.

    Args:
        model: The weighting model.
        columns: The weight of each field.
        constants: The model's constants for the term.
        collection: Statistics of the collection.
    """
    formula = _FORMULAS[type(model)]
    if isinstance(model, DirichletLM) and model.variant == "full":
        formula = _FULL_DIRICHLET
    head = f"double t=_score;double l={_length(columns)};"
    if formula.startswith("{"):
        source = head + formula[1:-1]
    else:
        source = f"{head}return Math.max(0,{formula})"
    params = {"a": constants[0], "c": constants[1], "average": collection.average_length or 1.0}
    return {"source": source, "params": params | _parameters(model) | _weights(columns)}


def document_script(mu: float, columns: Sequence[float], query_length: float) -> dict[str, Any]:
    """The script that adds |q| · (ln(µ / (µ + length)) + `DOCUMENT_OFFSET`) to a score."""
    source = (
        f"double l={_length(columns)};"
        "return Math.max(0,_score+params.q*(Math.log(params.mu/(params.mu+l))+params.offset))"
    )
    params = {"mu": mu, "q": query_length, "offset": DOCUMENT_OFFSET}
    return {"source": source, "params": params | _weights(columns)}


def normalised_script(field: int, share: float, average: float) -> dict[str, Any]:
    """The script of a field's part in BM25F: its frequency by its normalised length."""
    source = f"_score/(1-params.b+params.b*doc['{length_field(field)}'].value/params.average)"
    return {"source": source, "params": {"b": share, "average": average}}


def saturated_script(k1: float) -> dict[str, Any]:
    """The script of a term's score in BM25F, from the sum over its fields."""
    return {"source": "_score/(params.k1+_score)", "params": {"k1": k1}}


def _length(columns: Sequence[float]) -> str:
    """The weighted length of a document; its weights are parameters, since scripts are compiled."""
    return "+".join(
        f"params.w{place}*doc['{length_field(place)}'].value"
        for place, weight in enumerate(columns)
        if weight
    )


def _weights(columns: Sequence[float]) -> dict[str, float]:
    return {f"w{place}": weight for place, weight in enumerate(columns) if weight}


def _parameters(model: WeightingModel) -> dict[str, float]:
    found = asdict(model)  # type: ignore[call-overload]
    if isinstance(model, TFIDF):
        return {"b": model.slope}
    if isinstance(model, PL2):
        return {"k": model.c}
    return {name: found[name] for name in ("k1", "b", "mu") if name in found}
