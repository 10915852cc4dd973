"""Tools for what a note says about itself."""

from __future__ import annotations

from typing import Final

from service.guards import paths
from service.tools.arguments import NotePath
from service.tools.context import Ctx, given, room
from service.tools.register import ToolSpec
from service.tools.shapes import PropertiesListed
from service.vault import properties


def get_frontmatter(ctx: Ctx, path: NotePath) -> PropertiesListed:
    """Get a note's properties (YAML front matter) as values. Dates and times are text."""
    here = room(ctx)
    found = properties.read(here.vault, paths.markdown(path))
    return PropertiesListed.of(found, notice=given(here, [found.path]))


SPECS: Final = (ToolSpec(get_frontmatter, "Get a note's properties", "metadata"),)
