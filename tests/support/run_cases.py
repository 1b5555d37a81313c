"""Runs of any documents and scores, for tests of measures."""

from __future__ import annotations

from hypothesis import strategies as st

DOCUMENTS = "abcdefghij"


def runs(scores: tuple[float, ...]) -> st.SearchStrategy[dict[str, list[tuple[str, float]]]]:
    """Lines of documents with some of the scores, by topic."""
    line = st.tuples(st.sampled_from(DOCUMENTS), st.sampled_from(scores))
    return st.dictionaries(
        st.sampled_from(["1", "2", "3"]),
        st.lists(line, min_size=1, unique_by=lambda line: line[0]),
        min_size=1,
    )
