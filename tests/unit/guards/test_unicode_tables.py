"""The Unicode tables are those of the version they name, whatever Python runs."""

from __future__ import annotations

import html.entities

from service.guards import invisible, references, unicode_tables
from service.guards.suspicion import may_hide
from tests.support import unicode_tables as making


def test_the_committed_tables_are_those_of_the_named_unicode_version() -> None:
    """`python -m tests.support.unicode_tables --write` makes them."""
    assert unicode_tables.UNICODE_VERSION == making.UNICODE
    assert making.MODULE.read_text(encoding="utf-8") == making.module()


def test_every_suspect_wakes_the_look_at_bytes() -> None:
    """The bytes of suspicion.py are written by hand; Unicode decides."""
    suspects = [chr(code) for code in range(0x110000) if invisible.SUSPECT.match(chr(code))]
    assert len(suspects) > 4000
    assert [hex(ord(char)) for char in suspects if not may_hide(char.encode("utf-8", "surrogatepass"))] == []


def test_every_named_reference_to_a_suspect_is_known() -> None:
    """HTML's table of names is fixed for ever; so is ours."""
    named = {
        name.removesuffix(";"): char for name, char in html.entities.html5.items() if invisible.SUSPECT.match(char)
    }
    assert {name: references.NAMED.get(name) for name in named} == named
