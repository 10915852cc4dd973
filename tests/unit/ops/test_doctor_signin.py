"""What `strongroom doctor` says about signing in, the public address and the files of the state."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from argon2.profiles import CHEAPEST

from ops import doctor
from ops.checks import public, running, signin
from ops.checks.finding import Finding, Patient, Verdict
from service import settings as settings_
from service.auth import static
from service.auth.audit import FILE_NAME, TRAFFIC_NAME, Audit
from service.auth.grants import Grants
from service.auth.passphrase import INITIAL_FILE, Owner
from service.auth.tables import SCHEMA
from service.store.db import Database
from service.store.lock import Holder
from tests.support.clock import HeldClock

from .conftest import House

CLOCK = HeldClock(datetime(2026, 11, 30, 12, 0, tzinfo=UTC), ZoneInfo("UTC"))
PUBLIC = "https://notes.example.org"


def patient(house: House, **changes: object) -> Patient:
    settings = replace(settings_.load(house.environ), **changes)  # type: ignore[arg-type]
    return Patient(settings, CLOCK, house.environ)


def says(finding: Finding, verdict: Verdict, words: str) -> None:
    assert finding.verdict is verdict, finding
    assert words in f"{finding.found} {finding.means} {finding.todo}", finding
    assert verdict is Verdict.OK or (finding.means and finding.todo)


@pytest.fixture
def owner(house: House, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.setattr("argon2.profiles.RFC_9106_LOW_MEMORY", CHEAPEST)
    return Owner(Database(house.state, [SCHEMA]), house.state, CLOCK)


@pytest.mark.parametrize(
    ("url", "verdict", "words"),
    [
        (None, Verdict.OK, "STRONGROOM_PUBLIC_URL"),
        (PUBLIC, Verdict.OK, PUBLIC),
        (f"{PUBLIC}:443", Verdict.OK, PUBLIC),
        ("http://localhost:8484", Verdict.OK, "this machine only"),
        ("http://127.0.0.1:8484", Verdict.OK, "this machine only"),
        ("http://[::1]:8484", Verdict.OK, "this machine only"),
        (f"{PUBLIC}:8443", Verdict.FAIL, "443"),
        ("https://93.184.215.14:8443", Verdict.FAIL, "443"),
        ("https://notes.lan:8443", Verdict.WARN, "443"),
        ("https://192.168.1.7:8443", Verdict.WARN, "443"),
        ("http://notes.example.org", Verdict.FAIL, "not https"),
        ("http://notes.lan", Verdict.WARN, "not https"),
        ("https://some-words.trycloudflare.com", Verdict.WARN, "quick tunnel"),
        ("https://nas.tail1234.ts.net", Verdict.WARN, "Funnel"),
        ("https://notes.lan", Verdict.WARN, "private network"),
        ("https://nas", Verdict.WARN, "private network"),
        ("https://10.0.0.7", Verdict.WARN, "private network"),
        ("https://93.184.215.14", Verdict.WARN, "a name"),
    ],
)
def test_an_address_that_hosted_clients_cannot_use_is_told(
    house: House, url: str | None, verdict: Verdict, words: str
) -> None:
    """auth.md 4.4 anthropics/claude-ai-mcp#85 (port), #214 #303 #699 (Funnel, quick tunnels), #623: nothing arrives."""
    says(public.address(patient(house, public_url=url)), verdict, words)


def test_without_a_header_for_addresses_it_says_what_that_costs(house: House) -> None:
    """auth.md 7.3: a throttle without addresses is everybody's."""
    says(public.address(patient(house, public_url=PUBLIC)), Verdict.OK, "STRONGROOM_CLIENT_IP_HEADER")
    named = public.address(patient(house, public_url=PUBLIC, client_ip_header="CF-Connecting-IP"))
    assert "CLIENT_IP" not in named.found


@pytest.mark.parametrize(
    ("url", "secrets", "verdict", "words"),
    [
        (None, (), Verdict.OK, "nothing comes from outside"),
        ("http://127.0.0.1:8484", (), Verdict.OK, "nothing comes from outside"),
        (PUBLIC, (), Verdict.WARN, "Transform Rule"),
        (PUBLIC, ("a",), Verdict.OK, "empty 404"),
        (PUBLIC, ("a", "b"), Verdict.OK, "one can go"),
        ("https://a.trycloudflare.com", (), Verdict.OK, "cannot send one"),
        ("https://nas.tail1234.ts.net", (), Verdict.OK, "cannot send one"),
        ("https://nas.tail1234.ts.net", ("a",), Verdict.FAIL, "cannot send it"),
    ],
)
def test_it_knows_which_edges_can_add_the_origin_secret(
    house: House, url: str | None, secrets: tuple[str, ...], verdict: Verdict, words: str
) -> None:
    """auth.md 7.8, 0.7."""
    says(public.origin_secret(patient(house, public_url=url, origin_secrets=secrets)), verdict, words)


def test_nothing_is_asked_of_the_network(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """decisions.md 4: no egress; what is told is told from the address itself."""

    def refused(*_: object) -> None:
        raise AssertionError("it asked the network")

    monkeypatch.setattr("socket.socket.connect", refused)
    monkeypatch.setattr("socket.getaddrinfo", refused)
    for check in (public.address, public.origin_secret, signin.way_in, signin.audit_log, signin.state_files):
        assert check(patient(house, public_url=PUBLIC)).verdict is not Verdict.FAIL


def test_a_house_that_never_ran_gets_its_passphrase_at_the_first_start(house: House) -> None:
    """decisions.md 8: that is no fault."""
    says(signin.way_in(patient(house)), Verdict.OK, "first start")
    Database(house.state, [SCHEMA]).close()
    says(signin.way_in(patient(house)), Verdict.OK, "no passphrase yet")


def test_a_running_house_without_any_way_in_is_told(
    house: House, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """complaint 46: no passphrase set."""
    assert not owner.has_passphrase()
    monkeypatch.setattr(running, "server", lambda _: Holder(1, CLOCK.now().isoformat()))
    says(signin.way_in(patient(house)), Verdict.WARN, "strongroom auth passphrase --generate")


def test_ways_in_are_counted_with_what_was_let_in(house: House, owner: Owner) -> None:
    """Issue 5: passphrase set or not, clients' count; no word of the passphrase itself."""
    owner.prepare()
    first = (house.state / INITIAL_FILE).read_text(encoding="ascii").strip()
    with closing(Database(house.state, [SCHEMA])) as database:
        static.create(Grants(database, CLOCK), "laptop")
    found = signin.way_in(patient(house))
    says(found, Verdict.OK, "by a passphrase; alive: 1 token, 0 sign-ins; 0 clients")
    assert "--show-initial" in found.found
    assert first not in found.found
    owner.reveal_initial()
    assert "--show-initial" not in signin.way_in(patient(house)).found


def test_a_passkey_for_another_address_is_told_and_fails_when_it_is_the_only_way_in(house: House, owner: Owner) -> None:
    """auth.md 6: passkeys need a stable name."""
    owner.prepare()
    with closing(Database(house.state, [SCHEMA])) as database:
        database.connection().execute("INSERT INTO passkey VALUES (x'01', 'phone', x'', 0, 'old.example.org', 1, NULL)")
    says(signin.way_in(patient(house, public_url=PUBLIC)), Verdict.WARN, "'phone'")
    says(signin.way_in(patient(house, public_url="https://old.example.org")), Verdict.OK, "or 1 passkey;")
    owner.switch_off()
    says(signin.way_in(patient(house, public_url=PUBLIC)), Verdict.FAIL, "--on")


def test_where_nobody_signs_in_nothing_is_looked_for(house: House) -> None:
    """STRONGROOM_OAUTH=0, and the home of a split Strongroom."""
    says(signin.way_in(patient(house, has_oauth=False)), Verdict.OK, "switched off")


def test_an_audit_log_that_takes_no_line_is_told(house: House) -> None:
    """auth.md 7.9; doctor itself leaves no line."""
    says(signin.audit_log(patient(house)), Verdict.OK, "takes lines")
    assert not (house.state / FILE_NAME).exists()
    Audit(house.state, CLOCK).note("grant")
    whole = (house.state / FILE_NAME).read_bytes()
    says(signin.audit_log(patient(house)), Verdict.OK, "takes lines")
    assert (house.state / FILE_NAME).read_bytes() == whole
    (house.state / TRAFFIC_NAME).symlink_to("/nowhere")
    says(signin.audit_log(patient(house)), Verdict.FAIL, TRAFFIC_NAME)


@pytest.mark.parametrize("name", ["strongroom.db", "strongroom.db-wal", "audit.jsonl.1", INITIAL_FILE, TRAFFIC_NAME])
def test_a_file_of_the_state_that_others_may_read_or_that_is_a_link_is_told(house: House, name: str) -> None:
    """attack 85: modes 0600, links refused."""
    path = house.state / name
    path.touch(0o600)
    os.chmod(path, 0o600)
    says(signin.state_files(patient(house)), Verdict.OK, "owner alone")
    os.chmod(path, 0o640)
    says(signin.state_files(patient(house)), Verdict.FAIL, f"chmod 600 {path}")
    path.unlink()
    path.symlink_to(house.vault)
    says(signin.state_files(patient(house)), Verdict.FAIL, f"{name} in the state is a link")


def test_these_checks_are_among_doctors(tmp_path: Path) -> None:
    """Names are stable: scripts may rely on them."""
    assert not list(tmp_path.iterdir())
    names = [name for name, _ in doctor.checks()]
    assert names[-5:] == ["state files", "sign-in", "audit log", "public address", "origin secret"]


def test_the_edge_of_a_split_one_is_not_asked_for_a_vault(house: House) -> None:
    """It has none, and a list of failures that mean nothing hides the one that does."""
    edge = {
        "STRONGROOM_EDGE_KEY": "k" * 32,
        "STRONGROOM_HOME_URL": "http://127.0.0.1:8485",
        "STRONGROOM_VAULT": "/nowhere",
    }
    found = dict(doctor.examine(house.environ | edge))
    assert {name for name in found if "vault" in name} == set()
    assert found.keys() >= {"state private", "port", "sign-in", "origin secret"}
    assert "history" in dict(doctor.examine(house.environ))
    names = [name for name, _ in doctor.checks()]
    assert {*names} >= doctor._OF_THE_VAULT
