"""The model that comes with the package, with one file changed."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from sicetnon.arguments.models.model_files import SHIPPED


def with_file(folder: Path, name: str, content: bytes | None) -> Path:
    """The model in a folder of links, with another content of a file, or without the file."""
    shutil.copytree(SHIPPED, folder, copy_function=os.symlink)
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    return folder


def described(**changes: object) -> bytes:
    """The content of `model.json` with some entries changed."""
    return json.dumps(json.loads((SHIPPED / "model.json").read_text()) | changes).encode()
