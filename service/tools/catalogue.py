"""Every tool there is, in the order in which a client sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from service.tools import (
    browsing,
    connector,
    daily,
    finding,
    links,
    metadata,
    moving,
    past,
    reading,
    sections,
    tagging,
    tasks,
    writing,
)
from service.tools.register import ToolSpec

SPECS: Final[Sequence[ToolSpec]] = (
    *finding.SPECS,
    *browsing.SPECS,
    *reading.SPECS,
    *sections.READING,
    *metadata.SPECS,
    *tagging.SPECS,
    *links.SPECS,
    *writing.SPECS,
    *moving.SPECS,
    *sections.WRITING,
    *daily.SPECS,
    *tasks.SPECS,
    *past.SPECS,
    *connector.SPECS,
)
