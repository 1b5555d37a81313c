"""Imports run downwards, and the drawing of the house shows the code as it is."""

from __future__ import annotations

from tools import house


def test_every_room_stands_on_one_layer() -> None:
    named = [room for layer in house.LAYERS for room in layer]
    assert sorted(named) == sorted(set(house.rooms()) - {house.FRONT_DOOR})


def test_imports_run_downwards() -> None:
    assert house.violations() == []


def test_the_drawing_and_the_table_are_up_to_date() -> None:
    advice = "run `python tools/house.py`"
    assert house.PICTURE.read_text(encoding="utf-8") == house.picture(), advice
    assert house.PAGE.read_text(encoding="utf-8") == house.page(), advice
