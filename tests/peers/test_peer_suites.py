"""Suites that the peers' own packages carry, run on the measures of this one.

`make peers` downloads the source distributions into `build/peers`; without them these tests are
skipped. Wheels carry no tests. PyTerrier's suite for transformers is in its wheel, and is run in
`tests/ranking/test_pyterrier_contract.py`. The tests of `tira` read files that its source
distribution lacks. pytrec_eval's source distribution takes trec_eval from the network when it is
built: the test below reads its files from a checkout of trec_eval in `build/peers/trec_eval`.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
import tarfile
import types
import unittest
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sicetnon.evaluation import load_qrels, load_run, parse_measure

PEERS = Path(os.environ.get("SICETNON_PEERS", Path(__file__).parents[2] / "build" / "peers"))
# of the others, test_gdeval wants gdeval's rounding, and the rest tests providers of its own
MODULES = ("test_pytrec_eval", "test_accuracy", "test_judged")


def suite(package: str) -> dict[str, str]:
    """The test modules in the source distribution of an installed package, by name."""
    version = importlib.metadata.version(package)
    path = PEERS / f"{package}-{version}.tar.gz"
    if not path.is_file():
        pytest.skip(f"needs {path}: make peers")
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if "/tests/test_" in member.name and (file := archive.extractfile(member)):
                found[Path(member.name).stem] = file.read().decode()
    return found


def provider() -> Any:
    """This package's measures as a provider of ir_measures."""
    import ir_measures
    from ir_measures import Metric, providers

    class Evaluator(providers.Evaluator):
        def __init__(self, measures: Iterable[Any], qrels: Any):
            self.judged = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
            super().__init__(measures, set(self.judged))

        def iter_calc(self, run: Any) -> Iterator[Metric]:
            ranked = load_run(ir_measures.util.RunConverter(run).as_dict_of_dict(), "run")
            qrels = load_qrels(self.judged, "qrels")
            for measure in self.measures:
                values = parse_measure(str(measure))(ranked, qrels).topics
                yield from (Metric(topic, measure, value) for topic, value in values.items())

    class Provider(providers.Provider):
        NAME = "sicetnon"

        def supports(self, measure: Any) -> bool:
            return bool(parse_measure(str(measure)))

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Evaluator:
            return Evaluator(measures, qrels)

    return Provider


class Base(unittest.TestCase):
    """The base class of their tests, which their source distribution lacks."""

    def assertMetrics(self, first: Any, second: Any, not_equal: bool = False) -> None:  # noqa: N802
        ours, theirs = ({each.query_id: each.value for each in some} for some in (first, second))
        # they give five decimals, cut
        assert (ours == pytest.approx(theirs, abs=1e-5)) is not not_equal


@pytest.mark.parametrize("module", MODULES)
def test_the_suite_of_ir_measures(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    source = suite("ir_measures")[module]
    ours = provider()
    monkeypatch.setattr(ir_measures.providers, "PytrecEvalProvider", ours)
    for name in ("pytrec_eval", "accuracy", "judged"):
        monkeypatch.setattr(ir_measures, name, ours())
    base = types.ModuleType("suite.base")
    base.BaseMeasureTest = Base  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "suite", types.ModuleType("suite"))
    monkeypatch.setitem(sys.modules, "suite.base", base)
    found = types.ModuleType(f"suite.{module}")
    found.__package__ = "suite"
    exec(compile(source, module, "exec"), found.__dict__)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(found).run(result)
    assert result.testsRun == {"test_pytrec_eval": 13}.get(module, 1)
    assert result.wasSuccessful(), result.failures + result.errors


OF_TREC_EVAL = {
    "num_q": "NumQ", "num_ret": "NumRet", "num_rel": "NumRel", "num_rel_ret": "NumRet(rel=1)",
    "map": "AP", "Rprec": "Rprec", "bpref": "Bpref", "recip_rank": "RR", "ndcg": "nDCG",
    "set_P": "SetP", "set_recall": "SetR", "set_F": "SetF", "set_map": "SetAP",
}  # fmt: skip
CUTS = {
    r"P_(\d+)": "P@{}", r"recall_(\d+)": "R@{}", r"ndcg_cut_(\d+)": "nDCG@{}",
    r"map_cut_(\d+)": "AP@{}", r"success_(\d+)": "Success@{}",
    r"iprec_at_recall_([\d.]+)": "IPrec(trec_eval=10)@{}",
}  # fmt: skip


def named(measure: str) -> str | None:
    """The measure of trec_eval in our notation."""
    if measure in OF_TREC_EVAL:
        return OF_TREC_EVAL[measure]
    for pattern, notation in CUTS.items():
        if match := re.fullmatch(pattern, measure):
            return notation.format(float(match[1]) if "." in match[1] else match[1])
    return None


def test_the_files_of_trec_eval() -> None:
    folder = PEERS / "trec_eval" / "test"
    if not folder.is_dir():
        pytest.skip(f"needs a checkout of trec_eval in {folder.parent}")
    run, qrels = load_run(folder / "results.test"), load_qrels(folder / "qrels.test")
    rows = [line.split() for line in (folder / "out.test.aq").read_text().splitlines()]
    expected = {(row[0], row[1]): row[2] for row in rows if len(row) == 3}
    compared, wrong = 0, []
    for name in dict.fromkeys(name for name, _ in expected):
        notation = named(name)
        if notation is None:
            continue
        values = parse_measure(notation)(run, qrels)
        found = values.topics | {"all": values.mean}
        for topic, value in found.items():
            if (name, topic) in expected:
                compared += 1
                if abs(value - float(expected[name, topic])) > 5.01e-5:
                    wrong.append((name, topic, value, expected[name, topic]))
    assert (compared, wrong) == (249, [])
