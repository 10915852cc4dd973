"""The two pages of passkeys, from the browser's side: what they show, what they take, and from whom.

issue 5; decisions.md 19: one same-origin script, under a hash, on these pages alone.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from httpx import Response
from starlette.routing import Router
from starlette.testclient import TestClient

from service.auth import audience
from service.auth.asked import Asked, Client
from service.auth.audit import Audit
from service.auth.grants import Grants
from service.auth.model import SCOPES
from service.auth.passkeys import Passkey, Passkeys
from service.auth.pending import Opened
from service.auth.tables import SCHEMA
from service.store.db import Database
from service.web import answers
from service.web.oauth import door
from service.web.oauth.desk import Desk
from service.web.oauth.passkey_add import COOKIE
from service.web.oauth.routes import routes
from service.web.oauth.threads import Threads
from tests.support.authenticator import PRESENT, Authenticator
from tests.support.clock import HeldClock
from tests.support.rooms import settings_for

BASE = "https://notes.example.org"
CLIENT = Client("https://app.example/client", "cimd", "An <app>", "app.example", ("https://app.example/cb",))
ASKED = Asked(CLIENT, "https://app.example/cb", "state", "c" * 43, frozenset(SCOPES), audience.canonical(BASE))


@dataclass
class House:
    """A desk and a way to open browsers in front of it."""

    desk: Desk
    clock: HeldClock
    state: Path

    def browser(self) -> TestClient:
        app = Router(routes(self.desk), redirect_slashes=False, default=answers.not_found)
        return TestClient(app, base_url=self.desk.base, headers={"Origin": self.desk.base}, follow_redirects=False)

    def waiting(self, asked: Asked = ASKED) -> tuple[TestClient, Opened]:
        """A browser in which a sign-in waits."""
        browser, opened = self.browser(), self.desk.approvals.open(asked)
        browser.cookies.set(door.cookie_name(self.desk.base), opened.cookie)
        return browser, opened

    def registered(self, name: str = "phone") -> Authenticator:
        """A device with a passkey, made over the pages."""
        phone, browser = Authenticator(), self.browser()
        page = browser.post("/oauth/passkey/add", data={"code": self.desk.passkeys.new_code(name)})
        done = browser.post("/oauth/passkey/add", data={"credential": phone.make(options(page), origin=self.desk.base)})
        assert done.status_code == 200, done.text
        return phone

    def events(self) -> list[dict[str, object]]:
        return [dict(line) for line in self.desk.audit.lines()]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    yield from built(tmp_path, BASE)


def built(folder: Path, base: str) -> Iterator[House]:
    settings, clock = settings_for(folder, PUBLIC_URL=base), HeldClock.at("2026-11-30T12:00:00")
    database = Database(settings.state, (SCHEMA,))
    threads, audit = Threads(database.path), Audit(settings.state, clock)
    desk = Desk.laid_out(
        base=base,
        settings=settings,
        clock=clock,
        grants=Grants(database, clock, audience.canonical(base)),
        audit=audit,
        threads=threads,
        missing_folders=None,
    )
    yield House(desk, clock, settings.state)
    threads.close()
    database.close()


def options(page: Response) -> str:
    """What the page gives its script."""
    assert page.status_code in (200, 403), page.text
    found = re.search(r'data-passkey="([^"]*)"', page.text)
    assert found is not None, page.text
    return unescape(found[1])


def asked_for(browser: TestClient, opened: Opened) -> Response:
    return browser.post("/oauth/passkey", data={"request": opened.token})


def signed(browser: TestClient, opened: Opened, credential: str) -> Response:
    return browser.post("/oauth/passkey", data={"request": opened.token, "credential": credential})


# -- signing in -------------------------------------------------------------------------------------------------------


def test_a_passkey_signs_in_for_the_request_and_the_choices_are_those_of_the_consent_page(house: House) -> None:
    """The issue: an alternative to the passphrase; the same choices, and no passphrase asked for."""
    phone = house.registered()
    browser, opened = house.waiting()
    page = asked_for(browser, opened)
    assert "An &lt;app&gt;" in page.text
    assert "app.example" in page.text
    consent = signed(browser, opened, phone.sign(options(page), origin=BASE))
    assert consent.status_code == 200
    for field in ('name="access"', 'name="folders"', 'name="days"', 'value="allow"', 'value="deny"'):
        assert field in consent.text
    assert 'name="passphrase"' not in consent.text
    pending = house.desk.approvals.find(opened.token, opened.cookie)
    assert pending is not None
    assert (pending.is_signed_in, pending.is_used) == (True, False)
    [line] = [line for line in house.events() if line["event"] == "login_ok"]
    assert (line["method"], line["passkey"], line["client"]) == ("passkey", "phone", CLIENT.id)


@pytest.mark.parametrize(
    ("redirect_uri", "words"),
    [
        ("cursor://mcp/callback", "the app on this device that opens cursor: links"),
        ("http://127.0.0.1:7777/callback", "127.0.0.1:7777, a program on this device"),
        ("https://app.example/cb", "goes to app.example."),
    ],
)
def test_the_page_says_in_words_where_the_answer_goes(house: House, redirect_uri: str, words: str) -> None:
    """Issue 5, consent: where the answer goes is shown; this page comes before the choices as often as not."""
    house.registered()
    browser, opened = house.waiting(replace(ASKED, redirect_uri=redirect_uri))
    shown = re.sub(r"<[^>]*>", "", asked_for(browser, opened).text)
    assert words in shown


def test_without_a_right_answer_the_request_is_not_signed_in(house: House) -> None:
    """Each kind of wrong answer: the page again, with a challenge of its own, and nothing else."""
    phone = house.registered()
    browser, opened = house.waiting()
    first = options(asked_for(browser, opened))
    stranger = Authenticator(id=phone.id, user=phone.user)
    careless = phone.copy()
    careless.flags = PRESENT
    tries = [
        "",
        "{}",
        "not json",
        stranger.sign(first, origin=BASE),
        phone.sign(options(asked_for(browser, opened)), origin="https://evil.example"),
        careless.sign(options(asked_for(browser, opened)), origin=BASE),
        Authenticator().sign(options(asked_for(browser, opened)), origin=BASE),
    ]
    for credential in tries:
        answer = signed(browser, opened, credential)
        assert answer.status_code == 403
        assert "was not accepted" in answer.text
        pending = house.desk.approvals.find(opened.token, opened.cookie)
        assert pending is not None
        assert not pending.is_signed_in
    refusals = [line["event"] for line in house.events()]
    assert refusals.count("passkey_refused") == len(tries)
    assert signed(browser, opened, phone.sign(options(answer), origin=BASE)).status_code == 200, "the page goes on"


def test_a_passkey_that_is_forgotten_while_it_signs_opens_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """issue 5 (lost device): between the signature that is looked at and the sign-in that is noted lies an instant."""
    phone = house.registered()
    browser, opened = house.waiting()
    finish = Passkeys.finish_signing_in

    def overtaken(passkeys: Passkeys, text: str, pending_hash: bytes, cookie_hash: bytes) -> Passkey:
        found = finish(passkeys, text, pending_hash, cookie_hash)
        passkeys.remove(found.name)
        return found

    page = options(asked_for(browser, opened))
    monkeypatch.setattr(Passkeys, "finish_signing_in", overtaken)
    assert signed(browser, opened, phone.sign(page, origin=BASE)).status_code == 410
    pending = house.desk.approvals.find(opened.token, opened.cookie)
    assert pending is not None
    assert not pending.is_signed_in


def test_refusals_do_not_make_the_passphrase_wait(house: House) -> None:
    """A passkey cannot be guessed; a stranger's nonsense must not lock the owner's other door."""
    house.registered()
    browser, opened = house.waiting()
    for _ in range(20):
        assert signed(browser, opened, "{}").status_code == 403
    assert house.desk.throttle.wait_s() == 0
    assert house.desk.throttle.fails() == 0


def test_an_answer_that_is_sent_again_opens_nothing(house: House) -> None:
    """attack 22's kind: a replayed challenge, even for another request in the same browser."""
    phone = house.registered()
    browser, opened = house.waiting()
    credential = phone.sign(options(asked_for(browser, opened)), origin=BASE)
    assert signed(browser, opened, credential).status_code == 200
    again = house.desk.approvals.open(ASKED, cookie=opened.cookie)
    assert again.cookie == opened.cookie
    assert signed(browser, again, credential).status_code == 403
    pending = house.desk.approvals.find(again.token, again.cookie)
    assert pending is not None
    assert not pending.is_signed_in


def test_another_browser_gets_nowhere_with_the_form_or_the_answer(house: House) -> None:
    """attacks 18 and 19."""
    phone = house.registered()
    browser, opened = house.waiting()
    credential = phone.sign(options(asked_for(browser, opened)), origin=BASE)
    for other in (house.browser(), house.waiting()[0]):
        assert asked_for(other, opened).status_code == 410
        assert signed(other, opened, credential).status_code == 410
    assert signed(browser, opened, credential).status_code == 200


def test_a_page_that_has_expired_or_was_answered_says_so(house: House) -> None:
    """attacks 22 and 23."""
    phone = house.registered()
    browser, opened = house.waiting()
    credential = phone.sign(options(asked_for(browser, opened)), origin=BASE)
    house.desk.approvals.take(opened.token, opened.cookie)
    assert "used already" in signed(browser, opened, credential).text
    browser, opened = house.waiting()
    credential = phone.sign(options(asked_for(browser, opened)), origin=BASE)
    house.clock.move(timedelta(minutes=11))
    assert signed(browser, opened, credential).status_code == 410


def test_a_removed_passkey_signs_nobody_in(house: House) -> None:
    phone = house.registered()
    house.registered("laptop")
    browser, opened = house.waiting()
    credential = phone.sign(options(asked_for(browser, opened)), origin=BASE)
    house.desk.passkeys.remove("phone")
    assert signed(browser, opened, credential).status_code == 403
    house.desk.passkeys.remove("laptop")
    assert "There is no passkey for this address" in asked_for(browser, opened).text


def test_a_copied_passkey_is_refused_and_the_owner_is_told(house: House) -> None:
    """WebAuthn §7.2 step 22; the line stays for years, since only a holder of the key can write it."""
    phone = house.registered()
    thief = phone.copy()
    browser, opened = house.waiting()
    assert signed(browser, opened, phone.sign(options(asked_for(browser, opened)), origin=BASE)).status_code == 200
    browser, opened = house.waiting()
    answer = signed(browser, opened, thief.sign(options(asked_for(browser, opened)), origin=BASE))
    assert answer.status_code == 403
    assert "passkey_copied" in (house.state / "audit.jsonl").read_text()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": BASE, "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": BASE, "Sec-Fetch-Site": "same-site"}, 403),
    ],
)
@pytest.mark.parametrize("path", ["/oauth/passkey", "/oauth/passkey/add"])
def test_forms_from_other_pages_are_refused(house: House, path: str, headers: dict[str, str], status: int) -> None:
    """attacks 20 and 21."""
    browser, opened = house.waiting()
    code = house.desk.passkeys.new_code("phone")
    sent = {"request": opened.token} if path == "/oauth/passkey" else {"code": code}
    assert browser.post(path, data=sent, headers=headers).status_code == status
    assert house.desk.passkeys.begin_making(code, b"c"), "the code was not used up"


def test_other_methods_and_other_bodies_get_a_page_and_nothing_more(house: House) -> None:
    """attacks 25 and 41."""
    browser, opened = house.waiting()
    assert browser.get("/oauth/passkey").status_code == 405
    assert browser.head("/oauth/passkey/add").status_code == 405
    assert browser.post("/oauth/passkey", json={"request": opened.token}).status_code == 400
    assert browser.post("/oauth/passkey/add", data={"x": "y"}).status_code == 400
    assert browser.post("/oauth/passkey/add", data={"code": "x" * 20_000}).status_code == 413


# -- adding -----------------------------------------------------------------------------------------------------------


def test_adding_asks_for_the_code_and_then_makes_the_passkey(house: House) -> None:
    """The issue: registered with a one-time code from the command line."""
    browser, phone = house.browser(), Authenticator()
    assert 'autocomplete="one-time-code"' in browser.get("/oauth/passkey/add").text
    code = house.desk.passkeys.new_code("phone")
    page = browser.post("/oauth/passkey/add", data={"code": code})
    cookie = page.headers["set-cookie"]
    assert cookie.startswith(f"__Host-{COOKIE}=")
    assert {"Path=/", "HttpOnly", "SameSite=Lax", "Secure", "Max-Age=300"} <= set(cookie.split("; "))
    done = browser.post("/oauth/passkey/add", data={"credential": phone.make(options(page), origin=BASE)})
    assert "phone" in done.text
    assert "Max-Age=0" in done.headers["set-cookie"]
    assert [passkey.name for passkey in house.desk.passkeys.all()] == ["phone"]
    assert [line["event"] for line in house.events()] == ["passkey_added"]


def test_a_wrong_used_or_old_code_shows_the_same_page_with_the_way_out(house: House) -> None:
    browser = house.browser()
    used, late = house.desk.passkeys.new_code("phone"), "later"
    answers_ = [browser.post("/oauth/passkey/add", data={"code": "wrong-code"})]
    assert browser.post("/oauth/passkey/add", data={"code": used}).status_code == 200
    answers_ += [browser.post("/oauth/passkey/add", data={"code": used})]
    late = house.desk.passkeys.new_code("phone")
    house.clock.move(timedelta(minutes=10))
    answers_ += [browser.post("/oauth/passkey/add", data={"code": late})]
    assert {answer.status_code for answer in answers_} == {403}
    assert len({answer.text for answer in answers_}) == 1
    assert "strongroom auth passkey add" in answers_[0].text


def test_only_the_browser_that_gave_the_code_adds_the_passkey(house: House) -> None:
    """attack 19's kind; and a sign-in in another tab keeps its own cookie."""
    browser, opened = house.waiting()
    page = browser.post("/oauth/passkey/add", data={"code": house.desk.passkeys.new_code("phone")})
    made = Authenticator().make(options(page), origin=BASE)
    assert house.browser().post("/oauth/passkey/add", data={"credential": made}).status_code == 403
    assert browser.post("/oauth/passkey/add", data={"credential": made}).status_code == 403, "it was used up"
    assert house.desk.passkeys.all() == ()
    assert browser.cookies.get(door.cookie_name(BASE)) == opened.cookie


@pytest.mark.parametrize("base", ["http://nas.local:8484", "http://127.0.0.1:8484"])
def test_without_https_and_a_name_the_page_says_why(tmp_path: Path, base: str) -> None:
    for house in built(tmp_path, base):
        for answer in (
            house.browser().get("/oauth/passkey/add"),
            house.browser().post("/oauth/passkey/add", data={"code": "x"}),
        ):
            assert answer.status_code == 409
            assert "STRONGROOM_PUBLIC_URL" in answer.text


# -- the script -------------------------------------------------------------------------------------------------------


def test_the_pages_with_a_passkey_have_one_script_and_it_is_the_one_in_the_policy(house: House) -> None:
    """decisions.md 19: under a hash; nothing else can be loaded, connected to, framed or run."""
    house.registered()
    browser, opened = house.waiting()
    code = house.desk.passkeys.new_code("laptop")
    for page in (asked_for(browser, opened), browser.post("/oauth/passkey/add", data={"code": code})):
        [script] = re.findall(r"<script[^>]*>(.*?)</script>", page.text, re.DOTALL)
        assert "<script>" in page.text
        hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = page.headers["content-security-policy"].split("; ")
        assert f"script-src 'sha256-{hashed}'" in policy
        assert {"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} <= set(policy)
        assert not [one for one in policy if "unsafe" in one or "http" in one]
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"
        assert not re.search(r"\son\w+=|javascript:|<link|src=", page.text.replace(script, ""))


def test_no_other_page_allows_any_script(house: House) -> None:
    """decisions.md 19: the passphrase page has none."""
    phone = house.registered()
    browser, opened = house.waiting()
    consent = signed(browser, opened, phone.sign(options(asked_for(browser, opened)), origin=BASE))
    for page in (consent, browser.get("/oauth/passkey/add"), browser.get("/oauth/passkey")):
        assert "<script" not in page.text
        assert "script-src" not in page.headers["content-security-policy"]


def test_what_the_page_gives_its_script_stays_data(house: House) -> None:
    """attack 27's kind: a name from outside cannot leave its attribute."""
    house.registered()
    browser, opened = house.waiting()
    page = asked_for(browser, opened)
    assert json.loads(options(page))["rpId"] == "notes.example.org"
    assert "An <app>" not in page.text
