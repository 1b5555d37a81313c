"""Draws and measures the house: rooms, layers and imports; circles, satellites, repeated names.

python tools/house.py      # writes docs/house.svg and the table in ARCHITECTURE.md; prints figures

`tests/docs/test_house.py` holds the imports to these layers, and the figures to their bounds.
"""

from __future__ import annotations

import ast
import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "sicetnon"
PICTURE = ROOT / "docs" / "house.svg"
PAGE = ROOT / "ARCHITECTURE.md"

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
    ("cancellation", "notebook", "operating_system"),
    ("arrays", "errors", "_version"),
)
# The front door names what people import and loads it on demand; it stands outside the layers.
FRONT_DOOR = "__init__"

# A plug-in is named by a registry, so that one importer is all that it needs.
PLUG_IN = re.compile(
    r"/(commands|tasks|pages|models|measures)/|_routes\.py$|/api\.py$|/(__main__|cli|_version)\.py$"
)
SMALL = 150
MOST_SATELLITES = 12
# Names that several files share, and no others: one that goes is to be removed here.
REPEATED = ("brief", "index", "judge", "leaderboard", "reply", "runs", "search")
IDIOMS = re.compile(r"\bbehind\b|\bNone where\b|\bas (?:it|they) (?:is|are)\b")

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


def file_imports() -> dict[Path, set[Path]]:
    """The files that each file imports, also in functions, but for types alone."""
    names = {_dotted(file): file for file in sorted(PACKAGE.rglob("*.py"))}
    return {
        file: {names[each] for each in _modules(file, set(names)) if names[each] != file}
        for file in names.values()
    }


def _dotted(file: Path) -> str:
    return ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def _modules(file: Path, known: set[str]) -> Iterator[str]:
    """The modules of the package that a file imports while it runs."""
    remaining: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while remaining:
        node = remaining.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield from (each for each in (full, node.module) if each in known)
        remaining.extend(ast.iter_child_nodes(node))


def circle() -> list[str]:
    """The files of a circle of imports; none if there is no circle."""
    graph = {
        file: {used for used in imported if used.name != "__init__.py"}
        for file, imported in file_imports().items()
        if file.name != "__init__.py"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [_shown(file) for file in error.args[1]]
    return []


def satellites() -> list[str]:
    """The files under 150 lines that one file alone imports, and that are no plug-ins."""
    users = Counter(used for imported in file_imports().values() for used in imported)
    return [
        _shown(file)
        for file, number in sorted(users.items())
        if number == 1
        and file.name != "__init__.py"
        and not PLUG_IN.search(str(file))
        and len(file.read_text(encoding="utf-8").splitlines()) < SMALL
    ]


def repeated() -> dict[str, int]:
    """The names that several files share, with the number of these files."""
    counts = Counter(file.stem for file in PACKAGE.rglob("*.py") if not file.stem.startswith("__"))
    return {name: count for name, count in sorted(counts.items()) if count > 1}


def idioms() -> list[str]:
    """The lines with words that the prose of the source does without."""
    return [
        f"{_shown(file)}:{number}: {line.strip()}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if IDIOMS.search(line)
    ]


def figures() -> str:
    """The measures of the house in one line."""
    files = list(PACKAGE.rglob("*.py"))
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    return (
        f"{lines:,} lines in {len(files)} files; a circle of {len(circle())} files; "
        f"{len(satellites())} satellites; {len(repeated())} repeated names; {len(idioms())} idioms"
    )


def _shown(file: Path) -> str:
    return str(file.relative_to(PACKAGE))


def page() -> str:
    """The page of the house with today's table."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(TABLE_START)
    _, _, after = rest.partition(TABLE_END)
    return f"{before}{TABLE_START}\n{table()}\n{TABLE_END}{after}"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    print(figures())
