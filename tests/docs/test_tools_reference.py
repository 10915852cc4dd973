"""What docs/reference/tools.md is made from is whole; that the page is fresh is in test_reference.py."""

from __future__ import annotations

import re
from pathlib import Path

from service.tools.catalogue import SPECS
from tests.support import tools_reference
from tests.support.reference import ROOT


def test_every_code_is_explained_and_none_that_nothing_raises() -> None:
    """errors.py: the list of codes is in docs/reference/tools.md."""
    named = {
        code
        for source in (ROOT / "service").rglob("*.py")
        for code in re.findall(r'PathRefused\(\s*"([A-Z_]+)"', Path(source).read_text(encoding="utf-8"))
    }
    assert tools_reference.CODES.keys() == tools_reference.codes_in_use() | named


def test_every_tool_has_its_place_on_the_page() -> None:
    """Our decision: a toolset without a title would be left out in silence."""
    page = "\n\n".join(tools_reference.blocks())
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == [
        spec.name for toolset in tools_reference.GROUPS for spec in SPECS if spec.toolset == toolset
    ]
    assert {spec.toolset for spec in SPECS} <= tools_reference.GROUPS.keys()
