"""topics.xml: the questions of a task."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import defusedxml
from defusedxml.ElementTree import fromstring

from sicetnon.errors import DataError
from sicetnon.formats.files import open_bytes
from sicetnon.records import Topic

EXPECTED = "<topics><topic><number>1</number><title>…</title></topic>…</topics>"


def read_topics(path: Path | str) -> list[Topic]:
    """The topics of a file, in its order; white space and line breaks in a text are folded.

    Raises:
        DataError: The XML is broken or hostile (its own entities are refused), a topic lacks its
            number or title, or a number occurs twice.
    """
    with open_bytes(path) as file:
        data = file.read()
    try:
        root = fromstring(data)
    except ParseError as error:
        raise DataError(f"no well-formed XML: {error}; expected {EXPECTED}", path) from None
    except defusedxml.DefusedXmlException:
        raise DataError(
            "the XML declares entities of its own, which can be used to attack a reader; "
            "write their texts in place and remove the declarations",
            path,
        ) from None
    except (LookupError, ValueError) as error:
        raise DataError(f"the XML cannot be decoded: {error}; save it as UTF-8", path) from None
    topics = [_topic(element, place, path) for place, element in enumerate(root.iter("topic"), 1)]
    if not topics:
        raise DataError(f"found no topic in <{root.tag}>; expected {EXPECTED}", path)
    numbers = [topic.number for topic in topics]
    if twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        raise DataError(f"topic number {', '.join(twice)} occurs more than once", path)
    return topics


def _topic(element: Element, place: int, path: Path | str) -> Topic:
    number, title = _text(element, "number"), _text(element, "title")
    if number.split() != [number]:
        raise DataError(f"topic {place} in the file has no <number>; expected {EXPECTED}", path)
    if not title:
        raise DataError(f"topic {number} has no <title>; expected {EXPECTED}", path)
    objects = tuple(filter(None, (part.strip() for part in _text(element, "objects").split(","))))
    return Topic(number, title, objects, _text(element, "description"), _text(element, "narrative"))


def _text(element: Element, tag: str) -> str:
    child = element.find(tag)
    return "" if child is None else " ".join("".join(child.itertext()).split())
