"""Joined byte strings come apart as they were put together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sicetnon.index.array_files import ByteColumn

strings = st.lists(st.binary(max_size=5), max_size=6)


@given(first=strings, later=st.lists(strings, max_size=4))
def test_joined_strings_come_apart(first: list[bytes], later: list[list[bytes]]) -> None:
    joined = ByteColumn(first)
    for each in later:
        joined.extend(each)
    expected = [*first, *(string for each in later for string in each)]
    assert joined.each() == expected
    assert joined.data() == b"".join(expected)
    assert (joined.sizes, joined.bytes) == ([*map(len, expected)], sum(map(len, expected)))
    assert len(joined) == len(expected)
    data, ends = joined.arrays()
    parts = zip([0, *ends.tolist()], ends.tolist(), strict=False)
    assert [data[begin:end].tobytes() for begin, end in parts] == expected
