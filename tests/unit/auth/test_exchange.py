"""From the owner's yes to tokens: codes that are good once, for whoever began, within a minute."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from service.auth import ending
from service.auth.asked import Choice, Client
from service.auth.lifetimes import DAY_S
from service.auth.minting import Issued
from service.auth.refusal import Refusal
from service.errors import BadArgument, Refused
from tests.support.clock import HeldClock
from tests.support.signing_in import BASE, HERE, VERIFIER, SigningIn

READ = ("vault:read",)
BOTH = ("vault:read", "vault:write")


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock.at("2026-03-01T12:00:00")


@pytest.fixture
def rooms(tmp_path: Path, clock: HeldClock) -> SigningIn:
    return SigningIn.over(tmp_path, clock)


@pytest.fixture
def client(rooms: SigningIn) -> Client:
    return rooms.client()


def refused(rooms: SigningIn, client_id: str, code: str, verifier: str = VERIFIER, uri: str | None = HERE) -> None:
    with pytest.raises(Refusal) as found:
        rooms.exchange.redeem(client_id, code, verifier, uri)
    assert found.value.error == "invalid_grant"


def living(rooms: SigningIn) -> list[str]:
    return [grant.id for grant in rooms.grants.all() if grant.is_alive(rooms.clock.now())]


# -- what the owner allows -----------------------------------------------------------------------------------------------


def test_the_owners_yes_makes_a_grant_and_a_code(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """auth.md 7.4; attack 14: `iss` once."""
    choice = Choice(frozenset(READ), ("Projects", "Inbox/New"), 30)
    location = rooms.flow.allow(rooms.asked(client), choice, "203.0.113.9")
    back = parse_qs(urlsplit(location).query)
    assert back["iss"] == [BASE]
    assert back["state"] == ["s"]
    assert set(back) == {"code", "iss", "state"}
    grant = rooms.grants.all()[0]
    assert (grant.kind, grant.name, grant.client_id) == ("oauth", "App", client.id)
    assert (grant.scopes, grant.folders) == (frozenset(READ), ("Projects", "Inbox/New"))
    assert grant.last_address == "203.0.113.9"
    assert grant.expires == clock.now() + timedelta(days=30)


def test_no_more_is_given_than_was_asked_and_lasts(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """auth.md 7.4: 180 days at most."""
    asked = rooms.asked(client)
    rooms.flow.allow(asked, Choice(frozenset((*BOTH, "admin")), (), 10_000))
    grant = rooms.grants.all()[0]
    assert grant.scopes == frozenset(BOTH)
    assert grant.expires == clock.now() + timedelta(days=180)
    for nothing in (Choice(frozenset(), (), 1), Choice(frozenset(("admin",)), (), 1), Choice(frozenset(READ), (), 0)):
        with pytest.raises(BadArgument):
            rooms.flow.allow(asked, nothing)


def test_a_second_sign_in_of_a_client_leaves_the_first_alone(rooms: SigningIn) -> None:
    """One id stands for all devices of an owner: Claude Code on two laptops has one."""
    client = rooms.clients.find("https://claude.ai/oauth/claude-code-client-metadata")
    assert client is not None
    first, second = (rooms.signed_in(client) for _ in range(2))
    assert rooms.call(first.access_token) is not None
    assert rooms.call(second.access_token) is not None
    assert len(living(rooms)) == 2


def test_a_client_that_was_taken_back_meanwhile_gets_no_code(rooms: SigningIn, client: Client) -> None:
    """Attack 78."""
    asked = rooms.asked(client)
    rooms.clients.disable(client.id)
    with pytest.raises(Refused):
        rooms.flow.allow(asked, Choice(frozenset(READ), (), 30))
    assert rooms.grants.all() == ()


# -- codes ---------------------------------------------------------------------------------------------------------------


def test_a_code_gives_tokens_once(rooms: SigningIn, client: Client) -> None:
    """Attack 34: the right verifier again ends what the first use gave."""
    code = rooms.code(client)
    issued = rooms.redeem(client, code)
    assert rooms.call(issued.access_token) is not None
    refused(rooms, client.id, code)
    assert rooms.call(issued.access_token) is None
    with pytest.raises(Refusal):
        rooms.refresh.renew(client.id, issued.refresh_token)
    assert "code_replay" in rooms.events()


def test_whoever_saw_a_used_code_can_do_nothing_with_it(rooms: SigningIn, client: Client) -> None:
    """Attack 35: a replay with a wrong verifier or by another client leaves the tokens alone."""
    code = rooms.code(client)
    issued = rooms.redeem(client, code)
    refused(rooms, client.id, code, "w" * 43)
    refused(rooms, rooms.client().id, code)
    assert rooms.call(issued.access_token) is not None


def test_of_many_at_once_one_gets_tokens(rooms: SigningIn, client: Client) -> None:
    """Attack 36: eight threads; the others are replays, so the grant is dead at the end."""
    code, found = rooms.code(client), []
    barrier = threading.Barrier(8)

    def redeem() -> None:
        barrier.wait()
        try:
            found.append(rooms.redeem(client, code))
        except Refusal as refusal:
            found.append(refusal)

    threads = [threading.Thread(target=redeem) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(one, Issued) for one in found) == 1
    assert len(found) == 8
    assert living(rooms) == []


@pytest.mark.parametrize("seconds", [60, 61, 3600, 86_400, -86_400])
def test_a_code_is_good_for_a_minute(rooms: SigningIn, client: Client, clock: HeldClock, seconds: int) -> None:
    """Attack 37, attack 57: whichever way the clock jumps."""
    code = rooms.code(client)
    clock.move(timedelta(seconds=seconds))
    refused(rooms, client.id, code)


def test_a_code_is_good_to_the_last_second(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """auth.md 7.4."""
    code = rooms.code(client)
    clock.move(timedelta(seconds=59))
    assert rooms.redeem(client, code).expires_in_s > 0


def test_another_clients_code_is_no_good_and_stays_good_for_its_own(rooms: SigningIn, client: Client) -> None:
    """Attack 38."""
    code = rooms.code(client)
    refused(rooms, rooms.client().id, code)
    assert rooms.redeem(client, code)


@pytest.mark.parametrize("uri", ["http://localhost:3001/callback", f"{HERE}/", "https://evil.example/", "x"])
def test_a_wrong_redirect_is_refused_and_burns_nothing(rooms: SigningIn, client: Client, uri: str) -> None:
    """Attack 39; a missing one is allowed."""
    code = rooms.code(client)
    refused(rooms, client.id, code, VERIFIER, uri)
    assert rooms.exchange.redeem(client.id, code, VERIFIER, None)


@pytest.mark.parametrize(
    "verifier", ["w" * 43, "", "v", "v" * 42, "v" * 44, "v" * 128, "v" * 129, "é" * 43, "\ud800", "v" * 42 + "\n"]
)
def test_a_wrong_verifier_burns_the_code(rooms: SigningIn, client: Client, verifier: str) -> None:
    """Attack 40: wrong, short, long, or of odd characters."""
    code = rooms.code(client)
    refused(rooms, client.id, code, verifier)
    refused(rooms, client.id, code)
    assert living(rooms) == []
    assert "pkce_fail" in rooms.events()


def test_a_token_is_no_code_and_a_code_no_token(rooms: SigningIn, client: Client) -> None:
    """Attack 56."""
    code = rooms.code(client)
    assert rooms.call(code) is None
    with pytest.raises(Refusal):
        rooms.refresh.renew(client.id, code)
    issued = rooms.redeem(client, code)
    assert rooms.call(issued.refresh_token) is None
    for token in (issued.access_token, issued.refresh_token):
        refused(rooms, client.id, token)
    with pytest.raises(Refusal):
        rooms.refresh.renew(client.id, issued.access_token)


def test_what_our_address_was_before_is_no_good_after(tmp_path: Path, clock: HeldClock) -> None:
    """Attack 67: codes and both tokens are for the resource that they were given for."""
    before = SigningIn.over(tmp_path, clock, base="https://old.example")
    client = before.client()
    asked = before.asked(client)
    rooms = SigningIn.over(tmp_path, clock)
    code = rooms.code(client)
    issued = rooms.signed_in(client)
    moved = SigningIn.over(tmp_path, clock, base="https://new.example")
    refused(moved, client.id, code)
    assert moved.call(issued.access_token) is None
    with pytest.raises(Refusal):
        moved.refresh.renew(client.id, issued.refresh_token)
    assert rooms.call(issued.access_token) is not None
    assert asked.client == client


@pytest.mark.parametrize(
    ("redirect_uri", "seconds"),
    [
        ("http://localhost:3000/callback", 8 * 3600),
        ("cursor://anysphere.cursor-mcp/oauth/callback", 8 * 3600),
        ("https://claude.ai/api/mcp/auth_callback", 3600),
    ],
)
def test_tokens_of_programs_on_ones_own_machine_last_longer(
    rooms: SigningIn, clock: HeldClock, redirect_uri: str, seconds: int
) -> None:
    """auth.md 7.4, 4.4 claude-code#55055."""
    issued = rooms.signed_in(rooms.client(redirect_uri))
    assert issued.expires_in_s == seconds
    clock.move(timedelta(seconds=seconds - 1))
    assert rooms.call(issued.access_token) is not None
    clock.move(timedelta(seconds=1))
    assert rooms.call(issued.access_token) is None


def test_no_token_outlives_its_grant(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """Attack 55, attack 57: an hour before the end a token lasts an hour."""
    issued = rooms.signed_in(client, days=1)
    clock.move(timedelta(seconds=DAY_S - 3600))
    renewed = rooms.refresh.renew(client.id, issued.refresh_token)
    assert renewed.expires_in_s == 3600
    clock.move(timedelta(seconds=3600))
    assert rooms.call(renewed.access_token) is None
    with pytest.raises(Refusal):
        rooms.refresh.renew(client.id, renewed.refresh_token)


def test_what_waits_dies_with_its_client(rooms: SigningIn, client: Client, clock: HeldClock) -> None:
    """Attack 78: a code that was not exchanged yet."""
    code = rooms.code(client)
    with rooms.database.transaction() as connection:
        ending.end_client(connection, client.id, clock.now())
    refused(rooms, client.id, code)
    assert living(rooms) == []


def test_the_tokens_are_in_no_words_about_them(rooms: SigningIn, client: Client) -> None:
    """Attack 84: neither in what Python would print nor in the audit log."""
    issued = rooms.signed_in(client)
    code = rooms.code(client)
    said = repr(issued) + str([dict(line) for line in rooms.audit.lines()])
    for secret in (issued.access_token, issued.refresh_token, code, VERIFIER):
        assert secret not in said


_KILLED = """
import os, signal, sys
from pathlib import Path
from service.auth import minting
from tests.support.clock import HeldClock
from tests.support.signing_in import SigningIn

state, client_id, code, at = sys.argv[1:]
rooms = SigningIn.over(Path(state), HeldClock.at("2026-03-01T12:00:00"))
client = rooms.clients.living(client_id)
real = minting.beside

def dying(*args):
    made = real(*args)
    if at == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    return made

minting.beside = dying
rooms.redeem(client, code)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("at", ["before", "after"])
def test_a_kill_in_the_middle_leaves_no_second_use(tmp_path: Path, rooms: SigningIn, client: Client, at: str) -> None:
    """Attack 83: a real process dies by SIGKILL just before its commit, or before it could answer."""
    code = rooms.code(client)
    died = subprocess.run(
        [sys.executable, "-c", _KILLED, str(tmp_path), client.id, code, at],
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": "."},
        check=False,
        timeout=60,
    )
    assert died.returncode == -signal.SIGKILL
    count = "SELECT count(*) AS n FROM token"
    made = rooms.database.connection().execute(count).fetchone()["n"]
    if at == "before":
        assert made == 0
        assert rooms.redeem(client, code)
    else:
        assert made == 2
        refused(rooms, client.id, code)
        assert living(rooms) == []
