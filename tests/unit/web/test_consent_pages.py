"""The consent page and its answers, from the browser's side: who may say yes, to what, and how often."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from httpx import Response
from starlette.testclient import TestClient

from service.auth.asked import Choice
from service.auth.model import READ, WRITE
from service.auth.passphrase import Owner
from service.auth.pending import LIFETIME_S
from service.web.oauth import door as door_
from tests.support.front_door import (
    BASE,
    CLAUDE_BACK,
    PASSPHRASE,
    FrontDoor,
    allowing,
    answer_in,
    asking,
    sent_to,
    token_of,
)

ELSEWHERE = "http://127.0.0.1:8484"


@pytest.fixture
def door(tmp_path: Path) -> Iterator[FrontDoor]:
    with FrontDoor.opened(tmp_path) as opened:
        yield opened


def refused(door: FrontDoor, page: Response, status: int) -> None:
    assert page.status_code == status, page.text
    assert "refresh" not in page.text
    assert "code=" not in page.text
    assert door.granted() == 0


# -- what is asked --------------------------------------------------------------------------------------------------------


def test_to_ask_gives_nothing_and_shows_who_asks(door: FrontDoor) -> None:
    """Complaint 46: /authorize never issues a code. Attack 31: a known client is asked about like any other."""
    page = door.browser().get(asking())
    assert page.status_code == 200
    for word in ("Claude", "Verified: it is <bdi>claude.ai", '<strong class="where">claude.ai</strong>'):
        assert word in page.text
    assert door.granted() == 0
    assert [line["event"] for line in door.events()] == ["authorize_view"]


def test_a_yes_with_the_passphrase_sends_a_code_by_a_page_that_tells_nobody_whence(door: FrontDoor) -> None:
    """auth.md 2.6: 200 with a page that leads on, since `form-action 'self'` blocks a redirect."""
    browser = door.browser()
    page = browser.post("/oauth/consent", data=allowing(browser.get(asking())))
    assert page.status_code == 200
    assert page.headers["referrer-policy"] == "no-referrer"
    location = sent_to(page)
    assert location.startswith(CLAUDE_BACK + "?")
    answer = answer_in(location)
    assert (answer["state"], answer["iss"], len(answer["code"])) == (["st4te"], [BASE], 1)
    [grant] = door.desk.grants.all()
    assert (grant.scopes, grant.folders, grant.client_id) == ({READ, WRITE}, (), door.events("grant")[0]["client"])
    assert {line["event"] for line in door.events()} == {"authorize_view", "login_ok", "grant"}


def test_the_passphrase_is_asked_for_each_time(door: FrontDoor) -> None:
    """Attack 31, fastmcp PR 2056: no session, no remembered consent."""
    browser = door.browser()
    browser.post("/oauth/consent", data=allowing(browser.get(asking())))
    again = browser.get(asking())
    assert 'name="passphrase"' in again.text
    assert browser.post("/oauth/consent", data=allowing(again, passphrase="")).status_code == 403
    assert door.granted() == 1


def test_a_no_needs_no_passphrase_and_tells_the_client(door: FrontDoor) -> None:
    browser = door.browser()
    page = browser.post("/oauth/consent", data={"request": token_of(browser.get(asking())), "decision": "deny"})
    answer = answer_in(sent_to(page))
    assert (answer["error"], answer["state"], answer["iss"]) == (["access_denied"], ["st4te"], [BASE])
    assert door.granted() == 0
    assert len(door.events("deny")) == 1


def test_deny_comes_first_and_enter_in_the_form_allows(door: FrontDoor) -> None:
    """auth.md 7.3: first in the DOM, but not what Enter presses: it is in a form of its own."""
    page = door.browser().get(asking())
    buttons = re.findall(r'<button[^>]*value="(\w+)"', page.text)
    assert buttons == ["deny", "allow"]
    forms = re.findall(r"<form.*?</form>", page.text, re.S)
    assert 'value="deny"' in forms[0]
    assert 'name="passphrase"' not in forms[0]
    assert 'name="passphrase"' in forms[1]


# -- what may be chosen ---------------------------------------------------------------------------------------------------


def test_what_is_chosen_is_what_is_given(door: FrontDoor) -> None:
    """issue 5: read-only or read and write, the folders, and how long."""
    browser = door.browser()
    chosen = allowing(
        browser.get(asking()), access="read", folders=" Projects/ \r\n\r\nWork/Clients\r\nProjects/A", days="7"
    )
    assert browser.post("/oauth/consent", data=chosen).status_code == 200
    [grant] = door.desk.grants.all()
    assert (grant.scopes, grant.folders) == ({READ}, ("Projects", "Work/Clients"))
    assert grant.expires == door.clock.moment + timedelta(days=7)


def test_more_than_was_asked_cannot_be_chosen(door: FrontDoor) -> None:
    browser = door.browser()
    page = browser.get(asking(scope="vault:read"))
    assert 'name="access"' not in page.text
    browser.post("/oauth/consent", data=allowing(page, access="write"))
    [grant] = door.desk.grants.all()
    assert grant.scopes == {READ}


def test_fields_that_are_no_choice_change_nothing(door: FrontDoor) -> None:
    """Attack 24."""
    browser = door.browser()
    evil = {"client_id": "evil", "redirect_uri": "https://evil.example/", "scope": "vault:write", "state": "evil"}
    location = sent_to(browser.post("/oauth/consent", data=allowing(browser.get(asking()), **evil)))
    assert location.startswith(CLAUDE_BACK + "?")
    assert answer_in(location)["state"] == ["st4te"]


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("folders", "../outside", "Check the folders"),
        ("folders", ".obsidian", "Check the folders"),
        ("folders", "/", "Check the folders"),
        ("folders", "\n".join(f"F{number}" for number in range(30)), "Check the folders"),
        ("days", "0", "Choose a number of days from 1 to 180."),
        ("days", "181", "Choose a number of days from 1 to 180."),
        ("days", "-1", "Choose a number of days"),
        ("days", "٣", "Choose a number of days"),
        ("days", "9" * 4000, "Choose a number of days"),
        ("access", "admin", "Choose what it may do."),
    ],
)
def test_what_cannot_be_chosen_is_said_and_nothing_else_is_lost(
    door: FrontDoor, field: str, value: str, told: str
) -> None:
    browser = door.browser()
    first = browser.get(asking())
    given = allowing(first, **({"folders": "Projects", "days": "30", "access": "read"} | {field: value}))
    page = browser.post("/oauth/consent", data=given)
    refused(door, page, 400)
    assert told in page.text
    assert token_of(page) == given["request"]
    assert PASSPHRASE not in page.text
    if field != "days":
        assert '<option value="30" selected>' in page.text
    if field != "folders":
        assert ">\nProjects</textarea>" in page.text
    assert door.desk.throttle.fails() == 0  # nobody looked at the passphrase
    assert browser.post("/oauth/consent", data=allowing(page)).status_code == 200


@pytest.mark.parametrize("days", ["²", "①", "٣", "９", "1²", "+1", "1_0", "", "0", "9" * 5000])
def test_what_is_no_number_of_days_is_shown_again_and_never_crashes(door: FrontDoor, days: str) -> None:
    """Attack 24: the form is a stranger's word. `²` is a digit to Python, and no number."""
    browser = door.browser()
    page = browser.post("/oauth/consent", data=allowing(browser.get(asking()), days=days))
    refused(door, page, 400)
    assert "Choose a number of days" in page.text


def test_a_folder_that_is_not_there_is_said_after_the_passphrase_only(tmp_path: Path) -> None:
    """issue 5 and the brief: nobody learns names of folders before he was recognised; then nothing is lost."""
    with FrontDoor.opened(tmp_path, folders=["Projects"]) as door:
        browser = door.browser()
        given = allowing(browser.get(asking()), folders="Projects\nProjcets")
        wrong = browser.post("/oauth/consent", data=given | {"passphrase": "wrong"})
        assert wrong.status_code == 403
        assert "no folder" not in wrong.text
        page = browser.post("/oauth/consent", data=given)
        refused(door, page, 400)
        assert "There is no folder “Projcets” in your notes." in page.text
        assert ">\nProjects\nProjcets</textarea>" in page.text
        assert 'name="passphrase"' not in page.text  # it is not asked for twice
        mended = {name: value for name, value in given.items() if name != "passphrase"} | {"folders": "Projects"}
        assert browser.post("/oauth/consent", data=mended).status_code == 200
        assert door.desk.grants.all()[0].folders == ("Projects",)


def test_where_there_is_no_vault_folders_are_taken_as_they_are_named(door: FrontDoor) -> None:
    """The edge of a split Strongroom knows no folder (decisions.md 19)."""
    browser = door.browser()
    browser.post("/oauth/consent", data=allowing(browser.get(asking()), folders="Perhaps"))
    assert door.desk.grants.all()[0].folders == ("Perhaps",)


def test_no_more_days_are_offered_than_the_owner_set(tmp_path: Path) -> None:
    with FrontDoor.opened(tmp_path, GRANT_LIFETIME="20d") as door:
        page = door.browser().get(asking())
        assert re.findall(r'<option value="(\d+)"( selected)?>', page.text) == [
            ("1", ""),
            ("7", ""),
            ("20", " selected"),
        ]


# -- who may answer -------------------------------------------------------------------------------------------------------


def test_without_the_cookie_nothing_is_given(door: FrontDoor) -> None:
    """Attack 18."""
    browser = door.browser()
    form = allowing(browser.get(asking()))
    refused(door, door.browser().post("/oauth/consent", data=form), 410)


def test_with_the_cookie_of_another_browser_nothing_is_given(door: FrontDoor) -> None:
    """Attack 19: somebody else began; neither his form in my browser nor mine in his."""
    mine, other = door.browser(), door.browser()
    form = allowing(mine.get(asking()))
    other.get(asking())
    refused(door, other.post("/oauth/consent", data=form), 410)
    assert mine.post("/oauth/consent", data=form).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
        {"Origin": ELSEWHERE, "Sec-Fetch-Site": "same-site"},
        {"Origin": BASE + ".evil.example"},
        {"Origin": BASE + ":8443"},
        {"Origin": BASE.replace("https", "http")},
        {"Origin": BASE, "Sec-Fetch-Site": "cross-site"},
        {"Origin": BASE, "Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_a_form_from_elsewhere_is_refused(door: FrontDoor, headers: dict[str, str]) -> None:
    """Attacks 20 and 21: a foreign Origin, null, or a browser that says so."""
    browser = door.browser()
    form = allowing(browser.get(asking()))
    del browser.headers["Origin"], browser.headers["Sec-Fetch-Site"]
    refused(door, browser.post("/oauth/consent", data=form, headers=headers), 403)
    assert door.desk.throttle.fails() == 0


@pytest.mark.parametrize("headers", [{}, {"Sec-Fetch-Site": "same-origin"}, {"Origin": BASE}])
def test_browsers_that_tell_less_are_let_through_with_their_cookie(door: FrontDoor, headers: dict[str, str]) -> None:
    """auth.md 7.3: Origin may be absent where Sec-Fetch-Site is same-origin or absent."""
    browser = door.browser()
    form = allowing(browser.get(asking()))
    del browser.headers["Origin"], browser.headers["Sec-Fetch-Site"]
    assert browser.post("/oauth/consent", data=form, headers=headers).status_code == 200


def test_a_form_is_good_for_one_answer(door: FrontDoor) -> None:
    """Attack 22: a replay shows that it was used."""
    browser = door.browser()
    form = allowing(browser.get(asking()))
    assert browser.post("/oauth/consent", data=form).status_code == 200
    for again in (form, {"request": form["request"], "decision": "deny"}):
        page = browser.post("/oauth/consent", data=again)
        assert page.status_code == 410
        assert "used already" in page.text
    assert door.granted() == 1


def test_to_go_back_says_that_the_page_was_used(door: FrontDoor) -> None:
    """Attack 32: the browser asks for the same address again, since nothing of it was kept."""
    browser = door.browser()
    first = browser.get(asking())
    assert "used already" not in browser.get(asking()).text
    browser.post("/oauth/consent", data=allowing(first))
    assert "used already" in browser.get(asking()).text
    assert "used already" not in browser.get(asking(state="another")).text
    assert "used already" not in door.browser().get(asking()).text


def test_a_form_expires(door: FrontDoor) -> None:
    """Attack 23."""
    browser = door.browser()
    form = allowing(browser.get(asking()))
    door.clock.move(timedelta(seconds=LIFETIME_S))
    page = browser.post("/oauth/consent", data=form)
    refused(door, page, 410)
    assert "too old" in page.text


METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH")
USUAL = {"/oauth/consent": "POST", "/oauth/authorize": "GET", "/authorize": "GET", "/oauth/wait": "GET"}


@pytest.mark.parametrize(
    ("path", "usual", "method"),
    [(path, usual, method) for path, usual in USUAL.items() for method in METHODS if method != usual],
)
def test_other_methods_are_405(door: FrontDoor, path: str, usual: str, method: str) -> None:
    """Attack 25. HEAD too: it would begin or end a sign-in that nobody sees."""
    answer = door.browser().request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == usual
    assert door.events() == []


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'{"request":"x"}', "application/json"),
        (b"request=a&request=b&decision=allow", "application/x-www-form-urlencoded"),
        (b"\xff\xfe", "application/x-www-form-urlencoded"),
        (b"&".join(b"f%d=1" % number for number in range(200)), "application/x-www-form-urlencoded"),
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"request=a", ""),
    ],
)
def test_what_our_form_cannot_have_sent_is_400(door: FrontDoor, content: bytes, kind: str) -> None:
    page = door.browser().post("/oauth/consent", content=content, headers={"Content-Type": kind})
    refused(door, page, 400)


def test_an_answer_that_is_neither_yes_nor_no_is_400(door: FrontDoor) -> None:
    browser = door.browser()
    refused(door, browser.post("/oauth/consent", data={"request": token_of(browser.get(asking()))}), 400)


def test_a_body_that_is_too_large_is_413(door: FrontDoor) -> None:
    assert door.browser().post("/oauth/consent", data={"folders": "x" * 20_000}).status_code == 413


def test_two_tabs_of_one_browser_both_work(door: FrontDoor) -> None:
    """Claude often begins two sign-ins in one attempt (auth.md 4.1)."""
    browser = door.browser()
    first, second = browser.get(asking()), browser.get(asking())
    assert browser.post("/oauth/consent", data=allowing(first)).status_code == 200
    assert browser.post("/oauth/consent", data=allowing(second)).status_code == 200


# -- guesses --------------------------------------------------------------------------------------------------------------


def test_five_wrong_guesses_and_then_nobody_looks_any_more(door: FrontDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack 28: 429, with how long, and argon2 is not run."""
    browser = door.browser()
    page = browser.get(asking())
    for _ in range(5):
        page = browser.post("/oauth/consent", data=allowing(page, passphrase="wrong", folders="Kept"))
        assert page.status_code == 403
        assert "That is not the passphrase" in page.text
        assert ">\nKept</textarea>" in page.text
    looked: list[str] = []
    monkeypatch.setattr(type(door.desk.owner), "matches", lambda _self, given: looked.append(given) or True)
    throttled = browser.post("/oauth/consent", data=allowing(page))
    refused(door, throttled, 429)
    assert throttled.headers["retry-after"] == "30"
    assert "Wait 30 seconds" in throttled.text
    assert looked == []
    assert len(door.events("login_fail")) == 5
    assert len(door.events("login_throttled")) == 1
    door.clock.move(timedelta(seconds=30))
    assert browser.post("/oauth/consent", data=allowing(throttled)).status_code == 200
    assert door.desk.throttle.fails() == 0


def test_a_guess_that_was_overtaken_by_others_is_not_looked_at(
    door: FrontDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attacks 28 and 30: of guesses at the same instant each sees that one may be made; what counts is the word of the one
    transaction that counts it. Not even the right passphrase is looked at then."""
    browser = door.browser()
    page = browser.get(asking())
    for _ in range(5):
        page = browser.post("/oauth/consent", data=allowing(page, passphrase="wrong"))
    monkeypatch.setattr(type(door.desk.throttle), "wait_s", lambda _self, _address=None: 0)
    looked: list[str] = []
    monkeypatch.setattr(type(door.desk.owner), "matches", lambda _self, given: looked.append(given) or True)
    refused(door, browser.post("/oauth/consent", data=allowing(page)), 429)
    assert looked == []


def test_a_passphrase_that_is_switched_off_while_it_is_looked_at_opens_nothing(
    door: FrontDoor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """issue 5 (the passphrase can be switched off): to look at it takes a tenth of a second."""
    matches = type(door.desk.owner).matches

    def overtaken(owner: Owner, given: str) -> bool:
        found = matches(owner, given)
        with door.desk.grants.database.transaction() as connection:
            connection.execute("INSERT INTO sign_in VALUES ('passphrase_off', '1')")
        return found

    browser = door.browser()
    page = browser.get(asking())
    monkeypatch.setattr(type(door.desk.owner), "matches", overtaken)
    refused(door, browser.post("/oauth/consent", data=allowing(page)), 410)


def test_other_addresses_do_not_get_around_the_wait(tmp_path: Path) -> None:
    """Attack 28, complaint 54: neither a header that was not named, nor real new addresses."""
    with FrontDoor.opened(tmp_path, CLIENT_IP_HEADER="CF-Connecting-IP") as door:
        for number in range(7):
            browser = door.browser()
            told = {"CF-Connecting-IP": f"192.0.2.{number}", "X-Forwarded-For": f"10.0.0.{number}"}
            page = browser.get(asking(), headers=told)
            answer = browser.post("/oauth/consent", data=allowing(page, passphrase="wrong"), headers=told)
            assert answer.status_code == (403 if number < 5 else 429)
        assert [line["address"] for line in door.events("login_fail")] == [f"192.0.2.{number}" for number in range(5)]


def test_the_log_says_that_somebody_failed_and_not_what_was_typed(
    door: FrontDoor, capsys: pytest.CaptureFixture[str]
) -> None:
    """Attack 87; auth.md 7.3: a warning at the console."""
    browser = door.browser()
    browser.post("/oauth/consent", data=allowing(browser.get(asking()), passphrase="wr0ng secret"))
    said = capsys.readouterr().out
    assert "login.failed" in said
    everything = said + json.dumps(door.events())
    assert "wr0ng" not in everything


def test_no_secret_is_in_the_audit_log(door: FrontDoor) -> None:
    """Attack 84."""
    browser = door.browser()
    first = browser.get(asking())
    cookie = browser.cookies[door_.cookie_name(BASE)]
    code = answer_in(sent_to(browser.post("/oauth/consent", data=allowing(first))))["code"][0]
    audited = "".join(path.read_text() for path in door.state.glob("audit*.jsonl"))
    assert "grant" in audited
    for secret in (token_of(first), cookie, code, PASSPHRASE, "st4te"):
        assert secret not in audited


# -- the second door ------------------------------------------------------------------------------------------------------


def approval(page: Response) -> str:
    found = re.search(r'href="(/oauth/wait\?approval=[^"]+)"', page.text)
    assert found is not None
    return str(found[1])


def test_the_machine_lets_in_while_guesses_have_to_wait(door: FrontDoor) -> None:
    """Attack 29: a stranger cannot lock the owner out."""
    stranger, browser = door.browser(), door.browser()
    theirs = stranger.get(asking())
    for _ in range(8):
        stranger.post("/oauth/consent", data=allowing(theirs, passphrase="wrong"))
    path = approval(browser.get(asking()))
    waiting = browser.get(path)
    assert waiting.status_code == 200
    assert waiting.headers["refresh"] == "3"
    code = path.partition("=")[2]
    assert code in waiting.text
    assert door.desk.approvals.approve_by_code(code.lower(), Choice(frozenset({READ}), ("Projects",), 7)) is not None
    location = sent_to(browser.get(path))
    assert answer_in(location)["iss"] == [BASE]
    [grant] = door.desk.grants.all()
    assert (grant.scopes, grant.folders) == ({READ}, ("Projects",))
    assert browser.get(path).status_code == 410
    assert door.granted() == 1


def test_what_the_machine_allowed_goes_to_the_browser_that_began_and_to_no_other(door: FrontDoor) -> None:
    browser, other = door.browser(), door.browser()
    path = approval(browser.get(asking()))
    other.get(asking())
    door.desk.approvals.approve_by_code(path.partition("=")[2], Choice(frozenset({READ}), (), 7))
    refused(door, other.get(path), 410)
    refused(door, door.browser().get(path), 410)
    assert browser.get(path).status_code == 200


def test_a_browser_that_looks_ahead_uses_nothing_up(door: FrontDoor) -> None:
    browser = door.browser()
    path = approval(browser.get(asking()))
    door.desk.approvals.approve_by_code(path.partition("=")[2], Choice(frozenset({READ}), (), 7))
    refused(door, browser.get(path, headers={"Sec-Purpose": "prefetch"}), 200)
    assert "code=" in browser.get(path).text


def test_whoever_is_disturbed_by_it_can_stop_the_page_from_looking(door: FrontDoor) -> None:
    """WCAG 2.2.1, 2.2.2."""
    browser = door.browser()
    page = browser.get(approval(browser.get(asking())) + "&look=by-hand")
    assert "refresh" not in page.headers
    assert "Look now" in page.text


@pytest.mark.parametrize("query", ["", "?approval=", "?approval=0000-0000", "?approval=a&approval=b", "?approval=%00"])
def test_a_page_that_waits_for_nothing_says_so(door: FrontDoor, query: str) -> None:
    browser = door.browser()
    browser.get(asking())
    refused(door, browser.get("/oauth/wait" + query), 410)


# -- when nothing can be given --------------------------------------------------------------------------------------------


def test_without_any_way_in_the_page_says_what_to_type(tmp_path: Path) -> None:
    """decisions.md 8; complaint 46: no password set is no way in."""
    with FrontDoor.opened(tmp_path, has_passphrase=False) as door:
        page = door.browser().get(asking())
        refused(door, page, 503)
        assert "strongroom auth passphrase" in page.text


def test_a_client_that_was_taken_back_meanwhile_gets_nothing(door: FrontDoor) -> None:
    """Attack 78."""
    browser = door.browser()
    page = browser.get(asking())
    door.desk.clients.disable("https://claude.ai/oauth/mcp-oauth-client-metadata")
    answer = browser.post("/oauth/consent", data=allowing(page))
    assert answer.status_code in (409, 410)
    refused(door, answer, answer.status_code)


def test_a_state_that_cannot_be_read_lets_nobody_in(door: FrontDoor) -> None:
    """Attack 82: fail closed, with a page that says what to type."""
    browser = door.browser()
    page = browser.get(asking())
    database = door.state / "strongroom.db"
    database.rename(door.state / "aside.db")
    database.write_bytes(b"")
    for answer in (browser.get(asking()), browser.post("/oauth/consent", data=allowing(page))):
        assert answer.status_code == 503
        assert "strongroom doctor" in answer.text
        assert_sealed(answer)


def test_an_error_for_the_client_is_a_302_with_our_headers(door: FrontDoor) -> None:
    """auth.md 4.4 claude-ai-mcp#250: never one that posts again."""
    answer = door.browser().get(asking(code_challenge_method="plain"))
    assert answer.status_code == 302
    assert answer_in(answer.headers["location"])["error"] == ["invalid_request"]
    assert_sealed(answer)


# -- headers --------------------------------------------------------------------------------------------------------------


def assert_sealed(page: Response) -> None:
    headers = page.headers
    policy = headers["content-security-policy"].split("; ")
    assert policy[0] == "default-src 'none'"
    assert {"form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} < set(policy)
    assert not [one for one in policy if "unsafe" in one or "script" in one or "*" in one]
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["x-robots-tag"] == "noindex"
    assert headers["strict-transport-security"] == "max-age=31536000"
    assert "access-control-allow-origin" not in headers  # attack 46
    assert "<script" not in page.text


def every_page(door: FrontDoor) -> Iterator[Response]:
    browser = door.browser()
    first = browser.get(asking())
    yield first
    yield browser.get(approval(first))
    yield browser.post("/oauth/consent", data=allowing(first, passphrase="wrong"))
    yield browser.post("/oauth/consent", data=allowing(first))
    yield browser.post("/oauth/consent", data=allowing(first))
    yield browser.get("/oauth/consent")
    yield browser.post("/oauth/consent", data=allowing(first), headers={"Origin": "null"})
    yield browser.post("/oauth/consent", content=b"\xff")
    yield browser.get(asking(client_id="nobody"))
    yield browser.get(asking(redirect_uri="https://evil.example/"))
    yield browser.get("/oauth/wait")
    yield door.browser().get("/authorize" + asking().removeprefix("/oauth/authorize"))


def test_every_page_carries_the_strict_headers_errors_too(door: FrontDoor) -> None:
    """Attack 26: framing; and auth.md 7.3 Headers."""
    statuses = []
    for page in every_page(door):
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert_sealed(page)
        statuses.append(page.status_code)
    assert statuses == [200, 200, 403, 200, 410, 405, 403, 400, 400, 400, 410, 200]


def test_the_policy_names_the_one_stylesheet_by_its_hash(door: FrontDoor) -> None:
    import hashlib
    from base64 import b64encode

    page = door.browser().get(asking())
    [style] = re.findall(r"<style>(.*?)</style>", page.text, re.S)
    assert (
        f"'sha256-{b64encode(hashlib.sha256(style.encode()).digest()).decode()}'"
        in page.headers["content-security-policy"]
    )
    assert ' style="' not in page.text


def test_the_cookie_is_for_this_host_this_browser_and_ten_minutes(door: FrontDoor) -> None:
    """auth.md 2.7, 7.3."""
    cookie = door.browser().get(asking()).headers["set-cookie"]
    name, _, rest = cookie.partition("=")
    assert name == "__Host-strongroom_consent"
    assert set(rest.split("; ")[1:]) == {"Path=/", "Max-Age=600", "HttpOnly", "SameSite=Lax", "Secure"}


def test_on_plain_http_the_cookie_needs_no_tls_and_there_is_no_hsts(tmp_path: Path) -> None:
    """auth.md 2.7: `__Host-` does not work on http loopback in all browsers."""
    with FrontDoor.opened(tmp_path, base=ELSEWHERE) as door:
        page = door.browser().get(asking(resource=f"{ELSEWHERE}/mcp"))
        assert page.headers["set-cookie"].startswith("strongroom_consent=")
        assert "Secure" not in page.headers["set-cookie"]
        assert "strict-transport-security" not in page.headers


def test_two_cookies_of_our_name_are_none(door: FrontDoor) -> None:
    """Nobody knows which is ours, so neither counts (cookie tossing)."""
    browser = door.browser()
    form = allowing(browser.get(asking()))
    ours = f"__Host-strongroom_consent={browser.cookies['__Host-strongroom_consent']}"
    bare = TestClient(browser.app, base_url=BASE, headers={"Origin": BASE, "Cookie": f"{ours}; {ours}x"})
    refused(door, bare.post("/oauth/consent", data=form), 410)
