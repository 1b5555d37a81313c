"""The notation of measures, that of ir_measures: `nDCG@5`, `P(rel=2)@10`, `AP`."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sicetnon.errors import UsageError
from sicetnon.evaluation.trec_measures import MEASURES, JudgedRanking, Parameters
from sicetnon.text.unicode import shortened

EXAMPLES = "nDCG@5, P(rel=2)@10, AP, RR"
_NAMES = {name.lower(): name for name in MEASURES}
_NAMES |= {"map": "AP", "mrr": "RR", "precision": "P", "recall": "R"}
_AT = {"IPrec": "recall"}
"""The parameter behind `@` where it is not the cutoff."""
RARE = (
    *("AP_IA", "alpha_DCG", "alpha_nDCG", "BPM", "Compat", "ERR", "ERR_IA", "infAP"),
    *("INSQ", "INST", "NERR10", "NERR11", "NERR8", "NERR9", "nERR_IA", "nNRBP", "NRBP", "P_IA"),
    *("RBP", "SDCG", "SetRelP", "StRecall"),
)
"""The other measures of ir_measures."""
_OTHER_NAMES = {"map_ia": "AP_IA", "α_dcg": "alpha_DCG", "α_ndcg": "alpha_nDCG"}
_LONGEST = 1000
_OF_TREC_EVAL = re.compile(r"(\w+?)(?:_cut)?_([1-9]\d*)")


@dataclass(frozen=True)
class Notation:
    """A measure in parts.

    Attributes:
        name: Its name; a plain measure's in the letter case of ir_measures.
        given: The parameters in brackets.
        at: The parameter behind `@`; None where there is none.
    """

    name: str
    given: Mapping[str, Any]
    at: Any = None

    def __str__(self) -> str:
        given = ",".join(f"{key}={value!r}" for key, value in self.given.items())
        at = "" if self.at is None else f"@{self.at}"
        return f"{self.name}({given}){at}" if given else f"{self.name}{at}"


def read_notation(text: str) -> Notation:
    """Take a measure apart.

    Raises:
        UsageError: It is not written as a measure.
    """
    try:
        if len(text) > _LONGEST:
            raise ValueError
        node: ast.expr = ast.parse(text.strip(), mode="eval").body
        at = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            at = ast.literal_eval(node.right)
            node = node.left
        given = {}
        if isinstance(node, ast.Call) and not node.args:
            given = {str(each.arg): _value(each.value) for each in node.keywords}
            node = node.func
        if isinstance(node, ast.Name):
            if node.id.lower() == "numrelret":
                return Notation("NumRet", {"rel": 1})
            return Notation(_NAMES.get(node.id.lower(), node.id), given, at)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        pass  # the parser says with the last that brackets are nested too deeply
    raise UsageError(f"found the measure {shortened(repr(text), 80)}; expected one like {EXAMPLES}")


def _value(node: ast.expr) -> Any:
    # rule=official may stand without quotes
    return node.id if isinstance(node, ast.Name) else ast.literal_eval(node)


def is_known(notation: Notation) -> bool:
    """Whether this package or ir_measures has the measure."""
    return notation.name in (*MEASURES, *RARE) or notation.name.lower() in _OTHER_NAMES


def unknown_measure(notation: Notation) -> UsageError:
    """The error for a measure of a name that is not known; it names the nearest known ones."""
    name, at = notation.name.lower(), notation.at
    if found := _OF_TREC_EVAL.fullmatch(name):
        name, at = found[1], int(found[2])
    names = {each.lower(): each for each in RARE} | _NAMES | {"recip_rank": "RR"}
    near = [name] if name in names else difflib.get_close_matches(name, names)
    nearest = dict.fromkeys(_with_depth(names[each], at) for each in near)
    expected = " or ".join(nearest) or f"one like {EXAMPLES}"
    return UsageError(
        f"found the measure {str(notation)!r}, which is not known; expected {expected}"
    )


def _with_depth(name: str, depth: Any) -> str:
    """A measure at a depth, if it has one; at 5 where it needs one and there is none."""
    definition = MEASURES.get(name)
    if definition and "cutoff" not in definition.takes:
        return name
    return str(Notation(name, {}, depth or (5 if definition and definition.needs else None)))


@dataclass(frozen=True)
class PlainMeasure:
    """A measure that is computed here."""

    name: str
    parameters: Parameters

    def __call__(self, found: Sequence[int], judged: Sequence[int]) -> float:
        """Its value for a topic.

        Args:
            found: The labels of the documents found, best first, `UNJUDGED` for none.
            judged: The labels of all judged documents of the topic.
        """
        if self.parameters.judged_only:
            found = [label for label in found if label >= 0]
        return MEASURES[self.name].formula(JudgedRanking(found, judged), self.parameters)

    @property
    def rising_ties(self) -> bool:
        """Whether ir_measures orders documents of one score by rising ids, not by falling ones."""
        return self.name == "Judged" or (self.name == "RR" and self.parameters.cutoff is not None)

    def __str__(self) -> str:
        given = {
            each.name: getattr(self.parameters, each.name)
            for each in fields(Parameters)
            if getattr(self.parameters, each.name) != getattr(Parameters(), each.name)
        }
        at = given.pop(_AT.get(self.name, "cutoff"), None)
        return str(Notation(self.name, given, at))


def plain_measure(notation: Notation) -> PlainMeasure | None:
    """The plain measure of this notation; None where it is none, or takes other parameters.

    Raises:
        UsageError: A parameter is missing, or has a value that it cannot have.
    """
    definition = MEASURES.get(notation.name)
    if definition is None:
        return None
    given = dict(notation.given)
    if notation.at is not None:
        given[_AT.get(notation.name, "cutoff")] = notation.at
    if not given.keys() <= set(definition.takes):
        return None
    for key, value in given.items():
        expected, fits = _EXPECTED[key]
        if isinstance(value, bool) != (key == "judged_only") or not fits(value):
            raise UsageError(
                f"found the measure {str(notation)!r} with {key} = {value!r}; expected {expected}"
            )
    if definition.needs and definition.takes[0] not in given:
        raise UsageError(f"found the measure {str(notation)!r}; expected one like {EXAMPLES}")
    if given.get("gains") and given.get("dcg") == "exp-log2":
        raise UsageError(f"found the measure {str(notation)!r}; give gains or exp-log2, not both")
    if given.get("rel") == 1 and notation.name != "NumRet":
        del given["rel"]
    return PlainMeasure(notation.name, Parameters(**given))


def _whole(value: Any) -> bool:
    return isinstance(value, int) and value >= 1


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and value >= 0


def _gains(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(number, int) and number >= 0 for pair in value.items() for number in pair
    )


_EXPECTED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "cutoff": ("a whole number of at least 1", _whole),
    "rel": ("a whole number of at least 1", _whole),
    "judged_only": ("True or False", lambda value: isinstance(value, bool)),
    "beta": ("a number of at least 0", _number),
    "recall": ("a number from 0 to 1", lambda value: _number(value) and value <= 1),
    "dcg": ("'log2' or 'exp-log2'", lambda value: value in ("log2", "exp-log2")),
    "trec_eval": ("9 or 10", lambda value: value in (9, 10)),
    "gains": ("a gain of at least 0 for each label, like {1: 1, 2: 3}", _gains),
}
"""For each parameter what it may be."""
