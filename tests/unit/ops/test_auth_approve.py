"""`strongroom auth approve`: the second door."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ops.commands import strongroom
from service.auth.asked import Asked, Choice, Client
from service.auth.audit import Audit
from service.auth.model import READ, SCOPES, WRITE
from service.auth.pending import Approvals
from service.auth.tables import SCHEMA
from service.auth.throttle import FREE, Throttle
from service.clock import SystemClock
from service.errors import BadArgument, Conflict, NotFound
from service.store.db import Database
from tests.support.rooms import settings_for


@dataclass
class House:
    """A state with sign-ins that wait."""

    state: Path
    database: Database
    clock: SystemClock

    @property
    def approvals(self) -> Approvals:
        return Approvals(self.database, self.clock)

    def waiting(
        self,
        name: str = "App",
        domain: str | None = None,
        redirect: str = "https://app.example/cb",
        scopes: tuple[str, ...] = SCOPES,
    ) -> tuple[str, str]:
        """Code and cookie of a sign-in that has begun."""
        client = Client("c1", "cimd" if domain else "dcr", name, domain, (redirect,))
        opened = self.approvals.open(Asked(client, redirect, None, "c" * 43, frozenset(scopes), "r"), "192.0.2.7")
        return opened.approve_code, opened.cookie

    def taken(self, code: str, cookie: str) -> Choice | None:
        found = self.approvals.take_approved(code, cookie)
        return None if found is None else found[1]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    settings = settings_for(tmp_path)
    settings.state.chmod(0o700)
    monkeypatch.setenv("STRONGROOM_VAULT", str(settings.vault))
    monkeypatch.setenv("STRONGROOM_STATE", str(settings.state))
    with closing(Database(settings.state, [SCHEMA])) as database:
        yield House(settings.state, database, SystemClock(settings.zone))


def typed(*words: str) -> Result:
    return CliRunner().invoke(strongroom, ["auth", "approve", *words])


def test_a_code_lets_the_client_in_with_what_the_owner_chose(house: House) -> None:
    """Issue 5: second door; read-only, folders, how long."""
    code, cookie = house.waiting()
    done = typed(code, "--yes", "--read-only", "--folder", "Projects/", "--folder", "Work", "--days", "7", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["folders"] == ["Projects", "Work"]
    assert house.taken(code, cookie) == Choice(frozenset((READ,)), ("Projects", "Work"), 7)


def test_a_code_is_taken_as_a_person_types_it(house: House) -> None:
    """Without regard to case and dashes."""
    code, cookie = house.waiting()
    assert typed(code.replace("-", "").lower(), "--yes").exit_code == 0
    assert house.taken(code, cookie) == Choice(frozenset(SCOPES), (), 90)


def test_it_opens_while_the_page_is_locked_by_wrong_guesses(house: House) -> None:
    """attack 29: a stranger cannot lock the owner out."""
    throttle = Throttle(house.database, house.clock)
    for _ in range(FREE + 1):
        throttle.guess()
    assert throttle.wait_s() > 0
    code, cookie = house.waiting()
    assert typed(code, "--yes").exit_code == 0
    assert house.taken(code, cookie) is not None


@pytest.mark.parametrize(
    ("name", "domain", "redirect", "told"),
    [
        ("Claude", "claude.ai", "https://claude.ai/cb", ["Claude (verified: claude.ai)", "the web site claude.ai"]),
        ("Claude", None, "https://evil.example/cb", ["unverified", "the web site evil.example"]),
        ("Tool", None, "http://127.0.0.1:3000/cb", ["a program on the device with the browser (127.0.0.1:3000)"]),
        ("Cursor", None, "cursor://anysphere/cb", ["an app on the device with the browser (cursor:)"]),
    ],
)
def test_it_says_first_who_asks_where_the_answer_goes_and_for_what(
    house: House, name: str, domain: str | None, redirect: str, told: list[str]
) -> None:
    """Issue 5: names the client (verified or not) and the redirect host; what it asks."""
    code, _ = house.waiting(name, domain, redirect)
    said = typed(code, "--yes").stderr
    for words in [*told, "read and write", "192.0.2.7", "the whole vault, for 90 days"]:
        assert words in said


def test_without_a_yes_nothing_is_approved(house: House) -> None:
    """A script or a slip must not let anybody in: with nobody at a terminal it ends with 2."""
    code, cookie = house.waiting()
    assert typed(code).exit_code == 2
    assert house.taken(code, cookie) is None
    assert not list(house.state.glob("audit*"))


def test_a_client_never_gets_more_than_it_asked_for(house: House) -> None:
    """auth.md 7.4: scopes may narrow, never widen."""
    code, cookie = house.waiting(scopes=(READ,))
    typed(code, "--yes")
    assert house.taken(code, cookie) == Choice(frozenset((READ,)), (), 90)
    only_writes, _ = house.waiting(scopes=(WRITE,))
    for words in ((), ("--read-only",)):
        assert isinstance(typed(only_writes, "--yes", *words).exception, BadArgument)


@pytest.mark.parametrize("words", [("--days", "0"), ("--days", "181"), ("--folder", ""), ("--folder", "../x")])
def test_what_cannot_be_given_is_refused_and_the_code_stays_good(house: House, words: tuple[str, ...]) -> None:
    """style.md, Errors: the next try may be right."""
    code, cookie = house.waiting()
    assert isinstance(typed(code, "--yes", *words).exception, BadArgument)
    assert house.taken(code, cookie) is None
    assert typed(code, "--yes").exit_code == 0


def test_a_code_is_good_once_and_an_unknown_one_says_what_to_do(house: House) -> None:
    """attack 22: no replay through the second door either."""
    code, cookie = house.waiting()
    typed(code, "--yes")
    assert house.taken(code, cookie) is not None
    assert isinstance(typed(code, "--yes").exception, Conflict)
    unknown = typed("AAAA-AAAA", "--yes").exception
    assert isinstance(unknown, NotFound)
    assert "reload" in str(unknown)


def test_an_approval_stands_in_the_audit_log_without_its_code(house: House) -> None:
    """auth.md 7.9: approve_cli."""
    code, _ = house.waiting(name="Evil\x1b[2J")
    done = typed(code, "--yes")
    assert "\x1b" not in done.output
    (line,) = Audit(house.state, house.clock).lines()
    assert (line["event"], line["client"], line["write"]) == ("approve_cli", "c1", True)
    assert code not in str(line)


def test_a_folder_that_the_notes_do_not_have_is_said_before_the_yes(house: House) -> None:
    """The page refuses a misspelt folder; here it is the owner's word, and he is told."""
    (settings_for(house.state.parent).vault / "Recipes").mkdir()
    code, cookie = house.waiting()
    asked = typed(code, "--folder", "Recepies", "--folder", "Recipes").output
    assert "no folder 'Recepies'," in asked
    assert house.taken(code, cookie) is None
    assert "no folder" not in typed(code, "--folder", "Recipes", "--yes").output
