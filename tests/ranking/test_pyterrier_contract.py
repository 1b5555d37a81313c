"""PyTerrier's own suite for transformers, which its package carries (`pyterrier.testing`)."""

from __future__ import annotations

import unittest
import warnings
from importlib.util import find_spec

import pytest

import sicetnon

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not find_spec("pyterrier"), reason="needs the extra pyterrier"),
]


@pytest.mark.parametrize("name", ["default", "bm25", "dirichlet", "bm25-rm3"])
def test_systems_pass_the_suite_of_pyterrier(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PT_TEST_TRANSFORMER_REPORTS", "0")
    with warnings.catch_warnings(action="ignore"):
        from pyterrier import documentation
        from pyterrier.testing import transformer_test_class
    # the list of PyTerrier's pages is on its server
    monkeypatch.setattr(documentation, "_cached_objects_inv", {})
    with sicetnon.Index.build(["tenure protects freedom", "tenure costs money"]) as index:
        case = transformer_test_class(lambda: index.system(name).as_pyterrier())
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    assert result.testsRun == 2
    assert result.wasSuccessful(), [text for _, text in result.failures + result.errors]
    assert case.io_configs == [
        (["qid", "query"], ["qid", "query", "docno", "score", "rank"]),
        (["qid", "query", "docno"], ["qid", "query", "docno", "score", "rank"]),
    ]
