"""SECURITY.md names all limits with their defaults."""

from __future__ import annotations

import re
from dataclasses import asdict

from sicetnon.formats.files import Limits
from support.documentation import ROOT


def test_each_limit_is_named_with_its_default() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"^\| `SICETNON_MAX_(\w+)` \| ([\d,]+) \|", text, re.MULTILINE))
    assert found == {name.upper(): f"{value:,}" for name, value in asdict(Limits()).items()}
