"""Files of the two corpora with judgments of quality, as their makers write them."""

from __future__ import annotations

from pathlib import Path

WEBIS_COLUMNS = (
    "Topic ID,Argument ID,Discussion ID,Premise,Relevance,Is Argument?,Rhetorical Quality,"
    "Logical Quality,Dialectical Quality,Text Length,Stance,Combined Quality"
)
GOOD = "therefore the evidence shows clear benefits because studies agree"
BAD = "lol whatever dude you are so dumb haha"


def webis(folder: Path, bad_score: str = "-1.5") -> Path:
    path = folder / "webis.csv"
    rows = [WEBIS_COLUMNS]
    for topic in range(6):
        for n in range(5):
            rows.append(f'{topic},{n},7,"{GOOD} {n}",1,True,1,1,1,9,Pro,1.{n}')
            rows.append(f'{topic},{n},8,"{BAD}\n{n}",1,True,1,1,1,9,Con,{bad_score}')
        rows.append(f"{topic},9,9,hello,-4,False,,,,1,Pro,")
    path.write_text("\n".join(rows))
    return path


def dagstuhl(folder: Path) -> Path:
    path = folder / "dagstuhl.csv"
    columns = "annotator\toverall quality\tcogency\teffectiveness\treasonableness\targument\t#id"
    lines = [f"{columns}\tissue\tstance"]
    labels = {"a": ("1 (Low)", "2 (Average)", "1 (Low)"), "b": ("3 (High)", "2 (Average)", "?")}
    for name, given_labels in labels.items():
        for annotator, label in enumerate(given_labels):
            lines.append(f"{annotator}\t" + f"{label}\t" * 4 + f"It’s {name}\t{name}\ttv\tpro")
    path.write_bytes("\n".join(lines).encode("cp1252"))
    return path
