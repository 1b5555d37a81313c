"""Draws docs/search.svg, the README's picture of a search in the terminal.

python tools/make_picture.py
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from sicetnon.app.index import sample_index
from sicetnon.terminal.results import show_answers

QUESTION = "Should teachers get tenure?"
PICTURE = Path(__file__).parents[1] / "docs" / "search.svg"


def main() -> None:
    """Search the sample, and draw what the terminal shows."""
    screen = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    screen.print(Text(f'$ sicetnon search "{QUESTION}" -k 6', style="dim"))
    screen.print()
    with sample_index() as index:
        show_answers(QUESTION, index.search(QUESTION, 6), screen)
    drawn = screen.export_svg(title="sicetnon search")
    # the picture must not fetch fonts from anywhere: any fixed-width one will do
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    PICTURE.write_text(drawn.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas"))


if __name__ == "__main__":
    main()
