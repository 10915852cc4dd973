"""Passkeys in the auth room: codes, challenges, the two ceremonies with an authenticator in software, and what is refused.

issue 5 (passkeys as an alternative to the passphrase), decisions.md 19, WebAuthn Level 3 §7.1 and §7.2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.auth import ceremonies, ending, passkeys, tables
from service.auth.asked import Asked, Client
from service.auth.ceremonies import PasskeyRefused, Site
from service.auth.passkeys import MAX_WRONG_CODES, CodeRefused, PasskeyNotFound, Passkeys
from service.auth.pending import Approvals
from service.clock import SystemClock
from service.errors import BadArgument, Conflict, Misconfigured
from service.store.db import Database
from tests.support.authenticator import PRESENT, Authenticator, decoded, encoded
from tests.support.clock import HeldClock

BASE = "https://notes.example.org"
BACK = "http://localhost:3000/callback"
ASKED = Asked(
    Client("dcr-1", "dcr", "App", None, (BACK,)), BACK, "s", "c" * 43, frozenset(("vault:read",)), f"{BASE}/mcp"
)
PENDING, COOKIE, OTHER = b"p" * 32, b"c" * 32, b"o" * 32


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock.at("2026-11-30T12:00:00")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path, (tables.SCHEMA,))
    yield database
    database.close()


@pytest.fixture
def keys(database: Database, clock: HeldClock) -> Passkeys:
    return Passkeys(database, clock, BASE)


def registered(keys: Passkeys, name: str = "phone", phone: Authenticator | None = None) -> Authenticator:
    """An authenticator that has made a passkey."""
    phone = phone or Authenticator()
    options = keys.begin_making(keys.new_code(name), COOKIE)
    keys.finish_making(phone.make(options, origin=keys.site.origin), COOKIE)
    return phone


def signed_in(keys: Passkeys, phone: Authenticator) -> str:
    """The name of the passkey that the owner was let in with."""
    options = keys.begin_signing_in(PENDING, COOKIE)
    return keys.finish_signing_in(phone.sign(options, origin=keys.site.origin), PENDING, COOKIE).name


def refused(keys: Passkeys, text: str, pending: bytes = PENDING, cookie: bytes = COOKIE) -> str:
    """Why signing in was refused."""
    with pytest.raises(PasskeyRefused) as caught:
        keys.finish_signing_in(text, pending, cookie)
    return caught.value.why


# -- the whole way ----------------------------------------------------------------------------------------------------


def test_a_passkey_that_was_made_with_a_code_signs_the_owner_in(keys: Passkeys, clock: HeldClock) -> None:
    """The issue: registered with a one-time code from the command line, an alternative to the passphrase."""
    phone = registered(keys)
    clock.move(timedelta(days=1))
    assert signed_in(keys, phone) == "phone"
    assert signed_in(keys, phone) == "phone"
    [passkey] = keys.all()
    assert (passkey.rp_id, passkey.created, passkey.last_used) == (
        "notes.example.org",
        clock.now() - timedelta(days=1),
        clock.now(),
    )


def test_making_asks_for_a_discoverable_passkey_a_verified_user_and_no_attestation(keys: Passkeys) -> None:
    """WebAuthn §5.4: the options a browser acts on."""
    asked = json.loads(keys.begin_making(keys.new_code("phone"), COOKIE))
    assert asked["rp"] == {"name": "Strongroom", "id": "notes.example.org"}
    assert asked["authenticatorSelection"] == {
        "residentKey": "required",
        "requireResidentKey": True,
        "userVerification": "required",
    }
    assert asked["attestation"] == "none"
    assert [one["alg"] for one in asked["pubKeyCredParams"]] == [-7, -8, -257]
    assert len(decoded(asked["challenge"])) == 32


def test_signing_in_names_no_passkey_to_whoever_asks(keys: Passkeys) -> None:
    """A stranger who opens the page learns of none."""
    phone = registered(keys)
    asked = json.loads(keys.begin_signing_in(PENDING, COOKIE))
    assert asked["allowCredentials"] == []
    assert asked["userVerification"] == "required"
    assert encoded(phone.id) not in json.dumps(asked)


def test_the_owner_has_one_handle_and_a_device_is_not_registered_twice(keys: Passkeys) -> None:
    """WebAuthn §5.4.3 and excludeCredentials."""
    phone = registered(keys)
    asked = json.loads(keys.begin_making(keys.new_code("laptop"), COOKIE))
    assert decoded(asked["user"]["id"]) == phone.user
    assert [one["id"] for one in asked["excludeCredentials"]] == [encoded(phone.id)]


# -- codes ------------------------------------------------------------------------------------------------------------


def test_a_code_is_read_as_it_was_meant(keys: Passkeys) -> None:
    """Typed on a phone, which likes capitals and blanks."""
    code = keys.new_code("phone")
    assert len(passkeys.normal(code)) == 10
    assert keys.begin_making(f" {code.upper().replace('-', ' ')} ", COOKIE)


def test_a_code_is_good_once(keys: Passkeys) -> None:
    code = keys.new_code("phone")
    keys.begin_making(code, COOKIE)
    with pytest.raises(CodeRefused):
        keys.begin_making(code, COOKIE)


def test_a_code_is_good_for_ten_minutes(keys: Passkeys, clock: HeldClock) -> None:
    code = keys.new_code("phone")
    clock.move(timedelta(seconds=600))
    with pytest.raises(CodeRefused):
        keys.begin_making(code, COOKIE)
    code = keys.new_code("phone")
    clock.move(timedelta(seconds=599))
    assert keys.begin_making(code, COOKIE)


def test_a_new_code_takes_the_place_of_the_one_before(keys: Passkeys) -> None:
    old, new = keys.new_code("phone"), keys.new_code("phone")
    with pytest.raises(CodeRefused):
        keys.begin_making(old, COOKIE)
    assert keys.begin_making(new, COOKIE)


def test_no_stranger_uses_up_the_owners_code_with_wrong_ones(database: Database, clock: HeldClock) -> None:
    """attack 29's kind: a limit that a stranger reaches in a second keeps the owner from adding a passkey."""
    code = Passkeys(database, clock, BASE).new_code("phone")
    for number in range(150):
        with pytest.raises(CodeRefused):
            Passkeys(database, clock, BASE).begin_making(f"wrong{number:05}", COOKIE)
    assert Passkeys(database, clock, BASE).begin_making(code, COOKIE)


@pytest.mark.parametrize(("wrong", "is_good"), [(MAX_WRONG_CODES - 1, True), (MAX_WRONG_CODES, False)])
def test_a_code_outlives_a_million_wrong_ones_and_no_more(
    keys: Passkeys, database: Database, wrong: int, is_good: bool
) -> None:
    """attack 28's kind, for codes: guessing is bounded, and counted where a restart does not forget it (attack 30). All the
    guesses together find it with a chance of one in 10^8 at most."""
    assert MAX_WRONG_CODES * 10**8 < 31**10
    code = keys.new_code("phone")
    database.connection().execute("UPDATE passkey_code SET wrong = ?", (wrong,))
    if is_good:
        assert keys.begin_making(code, COOKIE)
    else:
        with pytest.raises(CodeRefused):
            keys.begin_making(code, COOKIE)


def test_a_passkey_that_is_being_made_while_everything_ends_is_not_kept(
    keys: Passkeys, database: Database, clock: HeldClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """issue 5, `auth lockdown`: between a challenge that is used up and the passkey that is kept lies an instant; a thief's
    passkey would outlive the lockdown."""
    made = ceremonies.made

    def overtaken(site: Site, answer: ceremonies.Answer) -> ceremonies.Made:
        with database.transaction() as connection:
            ending.lock_down(connection, clock.now())
        return made(site, answer)

    monkeypatch.setattr(ceremonies, "made", overtaken)
    options = keys.begin_making(keys.new_code("phone"), COOKIE)
    with pytest.raises(PasskeyRefused):
        keys.finish_making(Authenticator().make(options, origin=keys.site.origin), COOKIE)
    assert keys.all() == ()


def test_a_page_that_a_passkey_opened_is_shut_when_the_passkey_is_forgotten(
    keys: Passkeys, database: Database, clock: HeldClock
) -> None:
    """issue 5 (lost device): it opens nothing from now on."""
    registered(keys)
    approvals = Approvals(database, clock)
    opened = approvals.open(ASKED)
    assert approvals.sign_in(opened.token, opened.cookie)
    keys.remove("phone")
    found = approvals.find(opened.token, opened.cookie)
    assert found is not None
    assert not found.is_signed_in


def test_neither_codes_nor_challenges_are_kept_as_they_are(keys: Passkeys, database: Database) -> None:
    """attack 84: secrets are there as hashes only."""
    code = keys.new_code("phone")
    assert code.encode() not in _everything(database)
    assert passkeys.normal(code).encode() not in _everything(database)
    challenge = decoded(json.loads(keys.begin_making(code, COOKIE))["challenge"])
    assert challenge not in _everything(database)


def _everything(database: Database) -> bytes:
    database.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return database.path.read_bytes()


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "two\nlines", "-force", "\u202egnp"])
def test_a_name_is_one_printable_line(keys: Passkeys, name: str) -> None:
    with pytest.raises(BadArgument):
        keys.new_code(name)


def test_two_passkeys_have_two_names(keys: Passkeys) -> None:
    registered(keys, "phone")
    with pytest.raises(Conflict, match="choose another name"):
        keys.new_code("phone")


def test_a_name_that_was_taken_meanwhile_is_refused(keys: Passkeys) -> None:
    """Two codes for one name, the first already in use when the second was made."""
    late = Authenticator()
    options = keys.begin_making(keys.new_code("phone"), OTHER)
    registered(keys, "phone")
    with pytest.raises(Conflict):
        keys.finish_making(late.make(options, origin=BASE), OTHER)


# -- making, refused --------------------------------------------------------------------------------------------------


def make_refused(keys: Passkeys, text: str, cookie: bytes = COOKIE) -> str:
    with pytest.raises(PasskeyRefused) as caught:
        keys.finish_making(text, cookie)
    assert keys.all() == ()
    return caught.value.why


def test_only_the_browser_that_gave_the_code_makes_the_passkey(keys: Passkeys) -> None:
    """attack 19's kind: another browser's cookie."""
    options = keys.begin_making(keys.new_code("phone"), COOKIE)
    assert "browser" in make_refused(keys, Authenticator().make(options, origin=BASE), OTHER)


def test_a_passkey_made_on_another_site_is_refused(keys: Passkeys) -> None:
    """WebAuthn §7.1 steps 9 and 13: origin and rp id."""
    for bent in (
        {"origin": "https://evil.example"},
        {"origin": "http://notes.example.org"},
        {"origin": BASE, "rp_id": "example.org"},
        {"origin": BASE, "crossOrigin": True},
        {"origin": BASE, "type": "webauthn.get"},
    ):
        options = keys.begin_making(keys.new_code("phone"), COOKIE)
        make_refused(keys, Authenticator().make(options, **bent))  # type: ignore[arg-type]


def test_a_passkey_without_a_verified_user_is_refused(keys: Passkeys) -> None:
    """WebAuthn §7.1 step 16: presence alone is whoever holds the phone."""
    options = keys.begin_making(keys.new_code("phone"), COOKIE)
    make_refused(keys, Authenticator(flags=PRESENT).make(options, origin=BASE))


def test_a_making_is_replayed_by_nobody_and_ends_after_five_minutes(keys: Passkeys, clock: HeldClock) -> None:
    options = keys.begin_making(keys.new_code("phone"), COOKIE)
    clock.move(timedelta(seconds=300))
    text = Authenticator().make(options, origin=BASE)
    assert make_refused(keys, text) == "challenge too old"
    assert make_refused(keys, text) == "unknown or used challenge"


def test_a_challenge_for_signing_in_makes_no_passkey(keys: Passkeys) -> None:
    """Anybody gets one of those; only a code gets the other kind."""
    challenge = json.loads(keys.begin_signing_in(PENDING, COOKIE))["challenge"]
    options = {"challenge": challenge, "rp": {"id": "notes.example.org"}, "user": {"id": encoded(b"me")}}
    assert "another request" in make_refused(keys, Authenticator().make(json.dumps(options), origin=BASE))


def test_one_device_is_not_taken_twice(keys: Passkeys) -> None:
    """WebAuthn §7.1 step 26: a credential id is unique, whatever the browser makes of excludeCredentials."""
    phone = registered(keys)
    options = keys.begin_making(keys.new_code("again"), COOKIE)
    with pytest.raises(PasskeyRefused):
        keys.finish_making(phone.make(options, origin=BASE), COOKIE)
    assert [one.name for one in keys.all()] == ["phone"]


# -- signing in, refused ----------------------------------------------------------------------------------------------


def test_a_replayed_answer_opens_nothing(keys: Passkeys) -> None:
    """attack 22's kind: a challenge is good once."""
    phone = registered(keys)
    text = phone.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)
    assert keys.finish_signing_in(text, PENDING, COOKIE)
    assert refused(keys, text) == "unknown or used challenge"


def test_an_answer_is_good_for_its_request_in_its_browser_alone(keys: Passkeys) -> None:
    """attack 19: another browser's cookie; and one request's answer does not approve another."""
    phone = registered(keys)
    text = phone.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)
    assert "another request or browser" in refused(keys, text, cookie=OTHER)
    assert refused(keys, text) == "unknown or used challenge", "the attempt has used it up"
    text = phone.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)
    assert "another request or browser" in refused(keys, text, pending=OTHER)


def test_an_answer_after_five_minutes_is_too_late(keys: Passkeys, clock: HeldClock) -> None:
    phone = registered(keys)
    text = phone.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)
    clock.move(timedelta(seconds=300))
    assert refused(keys, text) == "challenge too old"


@pytest.mark.parametrize(
    "bent",
    [
        {"origin": "https://evil.example"},
        {"origin": "https://notes.example.org:8443"},
        {"origin": "https://notes.example.org.evil.example"},
        {"origin": BASE, "rp_id": "example.org"},
        {"origin": BASE, "crossOrigin": True},
        {"origin": BASE, "type": "webauthn.create"},
    ],
)
def test_an_answer_from_another_site_is_refused(keys: Passkeys, bent: dict[str, str]) -> None:
    """WebAuthn §7.2 steps 12 and 15: this is what makes a passkey worthless to a phishing page."""
    phone = registered(keys)
    refused(keys, phone.sign(keys.begin_signing_in(PENDING, COOKIE), **bent))


def test_presence_without_verification_is_refused(keys: Passkeys) -> None:
    """User verification is required: whoever finds the phone must not get in."""
    phone = registered(keys)
    phone.flags = PRESENT
    refused(keys, phone.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE))


def test_another_key_with_the_same_id_is_refused(keys: Passkeys) -> None:
    phone = registered(keys)
    forged = Authenticator(id=phone.id, user=phone.user)
    assert refused(keys, forged.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)) == "signature"


def test_an_unknown_passkey_is_refused(keys: Passkeys) -> None:
    registered(keys)
    text = Authenticator().sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)
    assert refused(keys, text) == "unknown passkey"


def test_a_passkey_of_another_owner_is_refused(keys: Passkeys) -> None:
    """WebAuthn §7.2 step 6: the user handle, where there is one."""
    phone = registered(keys)
    phone.user = b"somebody else"
    assert refused(keys, phone.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)) == "another owner's passkey"


def test_a_removed_passkey_opens_nothing_even_with_a_challenge_from_before(keys: Passkeys) -> None:
    """A lost phone: `strongroom auth passkey remove phone`."""
    phone = registered(keys)
    text = phone.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)
    assert keys.remove("phone").name == "phone"
    assert refused(keys, text) == "unknown passkey"
    with pytest.raises(PasskeyNotFound):
        keys.remove("phone")


def test_a_counter_that_does_not_go_up_means_a_copy_and_is_refused(keys: Passkeys) -> None:
    """WebAuthn §7.2 step 22; it is looked at after the signature, so nobody but a holder of the key can say it."""
    phone = registered(keys)
    thief = phone.copy()
    assert signed_in(keys, phone) == "phone"
    text = thief.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)
    assert refused(keys, text) == "counter went back: there may be a copy"
    forged = Authenticator(id=phone.id, user=phone.user)
    assert refused(keys, forged.sign(keys.begin_signing_in(PENDING, COOKIE), origin=BASE)) == "signature"
    assert signed_in(keys, phone) == "phone"


def test_passkeys_that_do_not_count_are_taken_for_what_they_are(keys: Passkeys) -> None:
    """Synced passkeys say 0 for ever."""
    phone = registered(keys, phone=Authenticator(counts=False))
    assert signed_in(keys, phone) == signed_in(keys, phone) == "phone"


def test_a_page_that_is_open_thrice_works_in_each_and_no_more_are_kept(keys: Passkeys, database: Database) -> None:
    """Loading a page again must not spoil the one before, and must not fill the database either."""
    phone = registered(keys, phone=Authenticator(counts=False))
    asked = [keys.begin_signing_in(PENDING, COOKIE) for _ in range(10)]
    [kept] = database.connection().execute("SELECT count(*) FROM passkey_challenge").fetchone()
    assert kept == 3
    assert refused(keys, phone.sign(asked[6], origin=BASE)) == "unknown or used challenge"
    for options in asked[7:]:
        assert keys.finish_signing_in(phone.sign(options, origin=BASE), PENDING, COOKIE)


# -- addresses --------------------------------------------------------------------------------------------------------


def test_a_passkey_of_an_earlier_address_is_listed_and_cannot_be_used(database: Database, clock: HeldClock) -> None:
    """The rp id is the host: after a move the browser no longer offers it, and we would not take it."""
    before = Passkeys(database, clock, BASE)
    phone = registered(before)
    after = Passkeys(database, clock, "https://vault.example.net")
    assert [one.name for one in after.all()] == ["phone"]
    assert after.usable() == ()
    refused(after, phone.sign(after.begin_signing_in(PENDING, COOKIE), origin="https://vault.example.net"))
    assert before.usable() == before.all()


@pytest.mark.parametrize(
    ("base", "origin", "rp_id", "hindrance"),
    [
        ("https://notes.example.org", "https://notes.example.org", "notes.example.org", None),
        ("https://notes.example.org:443", "https://notes.example.org", "notes.example.org", None),
        ("https://notes.example.org:8443", "https://notes.example.org:8443", "notes.example.org", None),
        ("http://localhost:8484", "http://localhost:8484", "localhost", None),
        ("http://notes.example.org", "http://notes.example.org", "notes.example.org", "https alone"),
        ("http://127.0.0.1:8484", "http://127.0.0.1:8484", "127.0.0.1", "is a number"),
        ("https://192.0.2.1", "https://192.0.2.1", "192.0.2.1", "is a number"),
        ("https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443", "2001:db8::1", "is a number"),
    ],
)
def test_where_no_browser_makes_passkeys_the_reason_is_said(
    base: str, origin: str, rp_id: str, hindrance: str | None
) -> None:
    """WebAuthn §5.1.3 and §13.4.9: a secure context, and a domain for an rp id."""
    site = Site.of(base)
    assert (site.origin, site.rp_id) == (origin, rp_id)
    assert (site.hindrance is None) if hindrance is None else (hindrance in str(site.hindrance))


def test_without_https_no_code_is_made(database: Database, clock: HeldClock) -> None:
    with pytest.raises(Misconfigured, match="STRONGROOM_PUBLIC_URL"):
        Passkeys(database, clock, "http://nas.local:8484").new_code("phone")


def test_the_last_usable_passkey_can_be_protected(database: Database, clock: HeldClock) -> None:
    """For an owner whose passphrase is switched off."""
    keys = Passkeys(database, clock, BASE)
    registered(keys, "phone")
    registered(Passkeys(database, clock, "https://old.example.org"), "old phone")
    with pytest.raises(Conflict, match="nobody could sign in"):
        keys.remove("phone", leaving_one=True)
    assert keys.remove("old phone", leaving_one=True).name == "old phone"
    registered(keys, "laptop")
    assert keys.remove("phone", leaving_one=True).name == "phone"
    assert keys.remove("laptop").name == "laptop"


# -- whatever a stranger sends ----------------------------------------------------------------------------------------

SITE = Site.of(BASE)
_BASE64 = st.binary(max_size=200).map(encoded)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | _BASE64,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=200) | _JSON.map(json.dumps))
def test_anything_else_is_refused_and_nothing_worse_happens(text: str) -> None:
    """Whatever the page's field holds, the answer is one refusal."""
    with pytest.raises(PasskeyRefused):
        ceremonies.read(text)


@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_a_bent_answer_is_refused_and_nothing_worse_happens(data: st.DataObject) -> None:
    """Bytes are changed, cut and added in every field of both answers; the library's own errors stay inside."""
    phone, challenge = Authenticator(), encoded(b"x" * 32)
    make = {"challenge": challenge, "rp": {"id": SITE.rp_id}, "user": {"id": encoded(b"me")}}
    is_making = data.draw(st.booleans())
    whole = json.loads(
        phone.make(json.dumps(make), origin=BASE)
        if is_making
        else phone.sign(json.dumps({"challenge": challenge, "rpId": SITE.rp_id}), origin=BASE)
    )
    public_key = phone._public_key()
    response = whole["response"]
    fields = ["attestationObject"] if is_making else ["clientDataJSON", "authenticatorData", "signature"]
    name = data.draw(st.sampled_from(fields))
    before = decoded(response[name])
    at = data.draw(st.integers(0, 1000)) * len(before) // 1000  # a signature is 70 to 72 bytes long
    after = before[:at] + data.draw(st.binary(max_size=4)) + before[at + data.draw(st.integers(0, 4)) :]
    response[name] = data.draw(st.just(encoded(after)) | _JSON)
    if response[name] == encoded(before):
        return
    try:
        answer = ceremonies.read(json.dumps(whole))
        done = ceremonies.made(SITE, answer) if is_making else ceremonies.counted(SITE, answer, public_key)
    except PasskeyRefused:
        return
    assert is_making, f"a bent {name} was taken for a signature"
    assert isinstance(done, ceremonies.Made)  # `none` proves nothing about the key, so other bytes make another key


def test_the_clock_of_the_machine_will_do(tmp_path: Path) -> None:
    """With the real clock and the whole way once more: nothing here depends on time that stands still."""
    database = Database(tmp_path, (tables.SCHEMA,))
    keys = Passkeys(database, SystemClock(ZoneInfo("UTC")), BASE)
    assert signed_in(keys, registered(keys)) == "phone"
    database.close()
