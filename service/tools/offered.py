"""What is told of every tool, without importing one: read from a file that is made from the code.

Importing what the tools do, and building their schemas, takes longer than the rest of a start. `offered.json` is made by
`python -m tests.support.reference --write`; a test compares it with the tools themselves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Final

from mcp_types import Tool

from service.tools.register import Offer

FILE_NAME: Final = "offered.json"


def offers() -> Sequence[Offer]:
    """All of them, in the order of the catalogue."""
    rows = json.loads(resources.files(__package__).joinpath(FILE_NAME).read_bytes())
    return [Offer(Tool.model_validate(row["tool"]), row["toolset"], row["writes"]) for row in rows]


def written(offers: Sequence[Offer]) -> str:
    """The text of the file, one tool a line."""
    rows = [
        {
            "toolset": offer.toolset,
            "writes": offer.writes,
            "tool": offer.listed.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
        for offer in offers
    ]
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"
