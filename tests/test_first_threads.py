"""Threads that are the first to decode a type at the same time do not crash the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sicetnon import Index

# msgspec reads the annotations of a type when it first decodes it; a pause there makes the others
# come meanwhile, which a quick machine does by chance
PROGRAM = """
import sys, threading, time
from pathlib import Path
from msgspec import _utils
{imports}
read = _utils._get_class_mro_and_typevar_mappings

def slowly(*given):
    time.sleep(0.05)
    return read(*given)

_utils._get_class_mro_and_typevar_mappings = slowly
together = threading.Barrier(4)

def first(number):
    together.wait()
    time.sleep(0.02 * number)
    {call}

threads = [threading.Thread(target=first, args=(number,)) for number in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        (
            "from sicetnon.arguments.side.classifier import SHIPPED, side_weights",
            "side_weights.__wrapped__(SHIPPED)",
        ),
        ("from sicetnon.index.manifest import read_manifest", "read_manifest(Path(sys.argv[1]))"),
        (
            "from sicetnon.cluster.responses import is_expected",
            "is_expected('POST', '/index/_search', {'hits': {'hits': []}})",
        ),
    ],
    ids=["side", "manifest", "cluster"],
)
def test_four_at_once(imports: str, call: str, tmp_path: Path) -> None:
    Index.build(["Tenure protects teachers."], tmp_path / "index").close()
    program = PROGRAM.format(imports=imports, call=call)
    command = [sys.executable, "-c", program, str(tmp_path / "index")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
