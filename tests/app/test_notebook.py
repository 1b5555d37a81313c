"""What a notebook shows, by a real kernel."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from sicetnon import Index
from support.patience import HANGS

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

CELLS = (
    """
import sicetnon
index = sicetnon.Index.build([
    {"id": "<b>a</b>", "text": "Teachers need tenure & peace."}, {"id": "b", "text": "No tenure."},
])
""",
    "found = sicetnon.experiment([index.system('bm25')], [sicetnon.Topic('1', 'tenure')],"
    " {'q': {'1': {'b': 1}}})\nfound",
    "assert 'nDCG@5' in str(found), repr(str(found))\nprint(found)",
    "index.search('teachers tenure', system='bm25')",
    "index.search('teachers tenure', system='bm25')[:1]",
    "index.search('teachers tenure', system='bm25')[0]",
    "index.system('bm25').retrieve([sicetnon.Topic('7', '<i>tenure')], 10)[0]",
    "from sicetnon.cli import main\nassert main(['evaluate', RUN, '--qrels', QRELS]) == 0",
    "sicetnon.brief(index, 'Should teachers get tenure?')",
)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """The outputs of each cell."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "run").write_text("1 Q0 b 1 2 tag\n")
    (folder / "qrels").write_text("1 0 b 1\n")
    kernel = folder / "kernels" / "tested"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "tested", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    named = f"RUN, QRELS = {str(folder / 'run')!r}, {str(folder / 'qrels')!r}\n"
    sources = [named + CELLS[0], *CELLS[1:]]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, sources)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("JUPYTER_PLATFORM_DIRS", "1")
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        client = nbclient.NotebookClient(notebook, timeout=HANGS, kernel_name="tested")
        client.execute(cwd=str(folder))
    return [cell.outputs for cell in notebook.cells]


def html_of(outputs: list[Any]) -> str:
    """The one HTML view of a cell."""
    assert [each.output_type for each in outputs] == ["execute_result"]
    return str(outputs[0].data["text/html"])


def text_of(outputs: list[Any]) -> str:
    assert {each.output_type for each in outputs} == {"stream"}
    return "".join(each.text for each in outputs if each.name == "stdout")


def test_a_build_shows_how_far_it_is(cells: list[list[Any]]) -> None:
    (output,) = cells[0]
    assert "2 documents" in output.data["text/html"]


def test_a_table_appears_once_and_is_text_too(cells: list[list[Any]]) -> None:
    assert html_of(cells[1]).count("<table>") == 1
    assert "nDCG@5" in cells[1][0].data["text/plain"]
    assert text_of(cells[2]).count("nDCG@5") == 1
    # a kernel sets FORCE_COLOR
    assert "\x1b" not in text_of(cells[2]) + cells[1][0].data["text/plain"]


def test_answers_are_a_table(cells: list[list[Any]]) -> None:
    page = html_of(cells[3])
    assert page.count("<tr>") == 3
    assert "<mark>Teachers</mark>" in page
    assert "&lt;b&gt;a&lt;/b&gt;" in page
    assert "tenure</mark> &amp; peace" in page
    for place in (4, 5):
        assert html_of(cells[place]).count("<tr>") == 2


def test_a_ranking_is_a_table(cells: list[list[Any]]) -> None:
    page = html_of(cells[6])
    assert "7 &lt;i&gt;tenure" in page
    assert page.count("<tr>") == 3


def test_a_command_prints_lines(cells: list[list[Any]]) -> None:
    assert text_of(cells[7]).count("nDCG@5") == 1
    assert "\x1b" not in text_of(cells[7])


def test_a_brief_is_a_page_of_its_own(cells: list[list[Any]]) -> None:
    assert html_of(cells[8]).startswith("<iframe srcdoc=")


def test_an_answer_against_its_claim_says_so() -> None:
    claim = "Teacher tenure is needed"
    texts = ("Tenure protects bad teachers.", "Tenure protects teachers from politics.")
    entries = [
        {"id": side, "claim": claim, "stance": side, "text": text}
        for side, text in zip(("CON", "PRO"), texts, strict=True)
    ]
    index = Index.build(entries, stance_field="stance", claim_field="claim")
    found = index.search("Should teachers get tenure?")
    pages = {each.id: each._repr_html_() for each in found}
    assert f"against the claim: <b>{claim}</b>" in pages["CON"]
    assert f"<td><b>{claim}</b>" in pages["PRO"]
