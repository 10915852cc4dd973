"""The pages made from the code are what the code says today."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from starlette.routing import Route

from service.auth import tables
from service.auth.audit import Audit
from service.auth.grants import Grants
from service.clock import SystemClock
from service.settings.kinds import zone
from service.settings.table import TABLE
from service.store.db import Database
from service.web import http
from service.web.oauth import door, machine, routes
from service.web.oauth.desk import Desk
from service.web.oauth.threads import Threads
from tests.support import endpoints_reference, reference
from tests.support.rooms import settings_for


@pytest.mark.parametrize("path", reference.PAGES)
def test_a_page_made_from_the_code_is_current(path: str) -> None:
    """Mend it with: python -m tests.support.reference --write"""
    assert (reference.ROOT / path).read_text(encoding="utf-8") == reference.PAGES[path]()


def test_every_kind_of_setting_is_explained() -> None:
    assert {row.kind for row in TABLE} <= reference._KINDS.keys()
    assert reference._KINDS.keys() <= {row.kind for row in TABLE}


def test_the_page_of_endpoints_has_every_path_that_the_service_answers(tmp_path: Path) -> None:
    """Issue 5: reference of endpoints."""
    settings, clock = settings_for(tmp_path), SystemClock(zone("UTC"))
    with (
        closing(Database(settings.state, (tables.SCHEMA,))) as database,
        closing(Threads(database.path)) as threads,
    ):
        desk = Desk.laid_out(
            base="https://notes.example.org",
            settings=settings,
            clock=clock,
            grants=Grants(database, clock),
            audit=Audit(settings.state, clock),
            threads=threads,
            missing_folders=None,
        )
        found = [*routes.routes(desk), *http.health_routes(lambda: ())]
    assert {route.path for route in found if isinstance(route, Route)} | {"/mcp"} == endpoints_reference.PATHS.keys()
    assert all(isinstance(route, Route) for route in found)


def test_the_two_kinds_of_doors_have_the_limits_that_the_page_gives_as_one() -> None:
    assert (machine.MAX_BYTES, machine.WITHIN_S) == (door.MAX_BODY_BYTES, door.READ_WITHIN_S)
