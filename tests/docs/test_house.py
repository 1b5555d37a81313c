"""Imports run downwards and in no circle; the drawing shows today's code; files are concepts."""

from __future__ import annotations

import re

from tools import house

# names of files that are still to be written
PLACEHOLDERS = {"tasks/touche_YEAR_task_N.py", "tools/house.py", "tests/docs/test_house.py"}
PLACEHOLDERS |= {f"{room}/NAME.py" for room in ("web/pages", "commands", "services")}
PLACEHOLDERS |= {"web/templates/NAME.html.jinja"}


def test_every_room_stands_on_one_layer() -> None:
    named = [room for layer in house.LAYERS for room in layer]
    assert sorted(named) == sorted(set(house.rooms()) - {house.FRONT_DOOR})


def test_imports_run_downwards() -> None:
    assert house.violations() == []


def test_no_files_import_one_another_in_a_circle() -> None:
    assert house.circle() == []


def test_few_small_files_have_one_importer() -> None:
    satellites = house.satellites()
    assert len(satellites) <= house.MOST_SATELLITES, satellites


def test_file_names_are_repeated_only_where_listed() -> None:
    assert set(house.repeated()) <= set(house.REPEATED)


def test_the_source_uses_plain_words() -> None:
    assert house.idioms() == []


def test_the_drawing_and_the_table_are_up_to_date() -> None:
    advice = "run `python tools/house.py`"
    assert house.PICTURE.read_text(encoding="utf-8") == house.picture(), advice
    assert house.PAGE.read_text(encoding="utf-8") == house.page(), advice


def test_the_page_names_what_the_code_has() -> None:
    text = house.PAGE.read_text(encoding="utf-8").partition(house.TABLE_START)[0]
    paths = set(re.findall(r"`([\w/]+\.(?:pyi?|jinja|html\.jinja))`", text)) - PLACEHOLDERS
    assert [path for path in sorted(paths) if not (house.PACKAGE / path).exists()] == []


def test_each_step_of_a_walk_names_what_its_files_define() -> None:
    walks = house.PAGE.read_text(encoding="utf-8").partition("## Four walks")[2].partition("\n## ")
    for step in re.split(r"\n(?=\d\. |\n)", walks[0]):
        spans = re.findall(r"`([\w./]+)`", step)
        files = [house.PACKAGE / span for span in spans if "/" in span or span.endswith(".py")]
        source = "\n".join(file.read_text(encoding="utf-8") for file in files)
        names = [span for span in spans if re.fullmatch(r"(?:[A-Z]\w+\.)?_?[A-Za-z]\w+", span)]
        for part in {part for name in names for part in name.split(".")} if files else ():
            assert re.search(rf"\b{part}\b", source), f"{part}: {step}"
