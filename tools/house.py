"""Draws the house: which rooms the package has, on which layer each stands, what each imports.

python tools/house.py      # writes docs/house.svg and the table in docs/house.md

`tests/docs/test_house.py` holds the imports to these layers.
"""

from __future__ import annotations

import ast
import html
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sicetnon"
PICTURE = ROOT / "docs" / "house.svg"
PAGE = ROOT / "docs" / "house.md"

# From the roof down. A room imports rooms of the layers below it, and none of its own layer.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("commands",),
    ("terminal", "web"),
    ("app",),
    ("tasks",),
    ("judging", "pairs", "ranker", "report", "uva", "validation"),
    ("cluster",),
    ("services",),
    ("evaluation", "ranking"),
    ("retrieval",),
    ("arguments",),
    ("index",),
    ("formats", "text"),
    ("contracts",),
    ("argument_checks",),
    ("databases", "jit", "records"),
    ("cancellation", "notebook", "system"),
    ("arrays", "errors", "_version"),
)
# The front door names what people import and loads it on demand; it stands outside the layers.
FRONT_DOOR = "__init__"

TABLE_START, TABLE_END = "<!-- rooms: python tools/house.py -->\n", "<!-- end of rooms -->\n"
ROW, GAP, WIDTH = 26, 8, 640


def rooms() -> dict[str, Path]:
    """Each room of the package with its file or folder."""
    folders = {path.parent.name: path.parent for path in PACKAGE.glob("*/__init__.py")}
    return folders | {path.stem: path for path in PACKAGE.glob("*.py")}


def imports() -> dict[str, dict[str, list[str]]]:
    """The rooms that each room imports, with the files that do it; imports in functions count."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted(PACKAGE.rglob("*.py")):
        place = file.relative_to(PACKAGE)
        room = place.parts[0].removesuffix(".py")
        for target in sorted(set(_imported(file))):
            if target != room:
                found[room][target].append(str(place))
    return found


def _imported(file: Path) -> Iterator[str]:
    """The rooms that a file imports from; contracts may name the types of any room."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if file.stem == "contracts":
        is_for_types = [ast.unparse(getattr(node, "test", node)) == "TYPE_CHECKING"
                        for node in tree.body]  # fmt: skip
        tree.body = [node for node, types in zip(tree.body, is_for_types, strict=True) if not types]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "sicetnon":
            modules = [f"sicetnon.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        for module in modules:
            first, _, rest = module.partition(".")
            if first == "sicetnon" and rest:
                yield rest.split(".")[0]


def violations() -> list[str]:
    """The imports that do not run downwards, one line each."""
    level = {room: number for number, layer in enumerate(LAYERS) for room in layer}
    lines = []
    for room, targets in imports().items():
        if room == FRONT_DOOR:
            continue
        for target, files in targets.items():
            if level.get(target, -1) <= level.get(room, len(LAYERS)):
                lines.append(f"{room} imports {target}: {', '.join(files)}")
    return lines


def table() -> str:
    """The rooms as a Markdown table, from the roof down."""
    found = imports()
    lines = ["| room | what is in it | imports |", "|---|---|---|"]
    for layer in LAYERS:
        for room in layer:
            targets = sorted(set(found[room]) - {"errors", "_version", "records"})
            names = ", ".join(f"`{target}`" for target in targets)
            lines.append(f"| `{room}` | {summary(rooms()[room])} | {names} |")
    return "\n".join(lines) + "\n"


def summary(room: Path) -> str:
    """The first line of a room's docstring."""
    file = room / "__init__.py" if room.is_dir() else room
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0].rstrip(".")


def picture() -> str:
    """The layers as an SVG drawing: one row a layer, one box a room."""
    height = len(LAYERS) * (ROW + GAP) + GAP
    style = "font-family='Menlo, Consolas, DejaVu Sans Mono, monospace' font-size='12'"
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' {style}>",
        "<title>Rooms and layers; a room imports rooms below it</title>",
        f"<rect width='{WIDTH}' height='{height}' rx='6' fill='#f6f8fa'/>",
    ]
    for number, layer in enumerate(LAYERS):
        top = GAP + number * (ROW + GAP)
        width = (WIDTH - GAP) / len(layer) - GAP
        for place, room in enumerate(layer):
            left = GAP + place * (width + GAP)
            parts.append(
                f"<rect x='{left:.0f}' y='{top}' width='{width:.0f}' height='{ROW}' rx='4' "
                "fill='#ffffff' stroke='#57606a'/>"
                f"<text x='{left + width / 2:.0f}' y='{top + 17}' text-anchor='middle' "
                f"fill='#1f2328'>{html.escape(room)}</text>"
            )
    return "\n".join([*parts, "</svg>", ""])


def page() -> str:
    """The page of the house with the table as it is now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(TABLE_START)
    _, _, after = rest.partition(TABLE_END)
    return f"{before}{TABLE_START}\n{table()}\n{TABLE_END}{after}"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
