"""Write `text/data/characters-N.json`: the classes and folded forms of characters, by the rules.

A published table never changes. New rules, or newer Unicode data, make a table of a new version:
raise `SCANNER_VERSION`, then run this with the Python whose `unicodedata` the table shall have.
"""

from __future__ import annotations

import argparse
import json
import sys
import unicodedata
from pathlib import Path

from sicetnon.text.unicode import LAST_POINT, SCANNER_VERSION, UNICODE_VERSION, classify

FOLDER = Path(__file__).parent.parent / "src" / "sicetnon" / "text" / "data"


def table() -> dict[str, object]:
    """Ranges of one class as [first, last, class], and the folded forms that differ."""
    ranges: list[list[int]] = []
    folded_forms: dict[str, str] = {}
    for point in range(LAST_POINT):
        kind, folded = classify(point)
        if ranges and ranges[-1][1:] == [point - 1, kind]:
            ranges[-1][1] = point
        elif kind:
            ranges.append([point, point, kind])
        if folded not in ("", chr(point)):
            folded_forms[chr(point)] = folded
    return {"classes": ranges, "folded": folded_forms}


def main() -> None:
    """Write the table of the present version."""
    argparse.ArgumentParser(prog="tools/make_characters.py", description=__doc__).parse_args()
    if unicodedata.unidata_version != UNICODE_VERSION:
        sys.exit(f"found Unicode {unicodedata.unidata_version}, expected {UNICODE_VERSION}")
    path = FOLDER / f"characters-{SCANNER_VERSION}.json"
    path.write_text(json.dumps(table(), ensure_ascii=False, separators=(",", ":")) + "\n", "utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
