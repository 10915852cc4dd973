"""What is done to the page where the owner is asked, and to the request that leads there, against the real process.

auth.md 8, attacks 1 to 31. The finer points of each rule are in the unit tests of its room.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.support.connectors import CHATGPT, CLAUDE, CLAUDE_CODE, CLAUDE_REGISTERED, CODEX
from tests.support.oauth_client import Connection
from tests.support.plain_browser import Page, PlainBrowser
from tests.support.sign_in import PUBLIC_URL, Place

CONSENT = f"{PUBLIC_URL}/oauth/consent"
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Origin": PUBLIC_URL, "Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with Place.open(tmp_path_factory.mktemp("page")) as place:
        yield place


@pytest.fixture
def client(place: Place) -> Connection:
    """One that is known and has not asked yet."""
    client = place.connection(CLAUDE)
    client.discover()
    client.introduce()
    return client


def browser(place: Place) -> PlainBrowser:
    return PlainBrowser(place.internet)


def is_a_dead_end(page: Page) -> bool:
    """Whether it is a page for the owner, with an error, that leads nowhere."""
    return page.status == 400 and page.leads_to is None and "location" not in page.answer.headers and not page.forms


# -- the request ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge": "x"}, "invalid_request"),
        ({"code_challenge": "x" * 42}, "invalid_request"),
        ({"code_challenge": "x" * 44}, "invalid_request"),
        ({"code_challenge": "x" * 42 + "+"}, "invalid_request"),
        ({"code_challenge": "x" * 42 + "="}, "invalid_request"),
        ({"code_challenge": "x" * 42 + "\n"}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "id_token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"scope": "vault:admin"}, "invalid_scope"),
        ({"scope": "vault:read openid"}, "invalid_scope"),
        ({"request": "eyJhbGciOiJub25lIn0.e30."}, "request_not_supported"),
        ({"request_uri": "https://203.0.113.9/request"}, "request_uri_not_supported"),
    ],
)
def test_a_request_that_is_not_right_is_told_to_the_client_with_iss(
    place: Place, client: Connection, changed: dict[str, str | None], error: str
) -> None:
    """Attacks 1, 2, 3, 4, 6, 14, 16 and 17: at its own redirect, with state and iss once; `said_at` wants both."""
    page = browser(place).open(client.authorize_url(**changed))
    assert page.leads_to is not None
    said = client.said_at(page.leads_to)
    assert said["error"] == error
    assert set(said) <= {"error", "error_description"}


@pytest.mark.parametrize(
    "name", ["client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "response_type"]
)
def test_a_parameter_that_is_there_twice_leads_nowhere(place: Place, client: Connection, name: str) -> None:
    """Attack 5: the same value or another; who reads the first and who the last would be played against each other."""
    url = client.authorize_url()
    for value in (parse_qs(urlsplit(url).query)[name][0], "x"):
        assert is_a_dead_end(browser(place).open(f"{url}&{name}={quote(value)}"))


def test_a_resource_may_be_there_twice_when_both_are_ours(place: Place, client: Connection) -> None:
    """Attack 15: RFC 8707 §2 lets it be repeated; one that is not ours among them is invalid_target."""
    url = client.authorize_url()
    assert browser(place).open(f"{url}&resource={quote(PUBLIC_URL)}").status == 200
    page = browser(place).open(f"{url}&resource={quote('https://other.example/mcp')}")
    assert page.leads_to is not None
    assert client.said_at(page.leads_to)["error"] == "invalid_target"


@pytest.mark.parametrize("client_id", ["", "unknown", "https://evil.example/client.json", "https://claude.ai/oauth/x"])
def test_an_unknown_client_leads_nowhere(place: Place, client: Connection, client_id: str) -> None:
    """Attack 7, attack 58: whatever it is called."""
    assert is_a_dead_end(browser(place).open(client.authorize_url(client_id=client_id)))


HOSTED_SPELLINGS = [
    "https://claude.ai/x/../api/mcp/auth_callback",
    "https://claude.ai/x/%2e%2e/api/mcp/auth_callback",
    "https://claude.ai/api/mcp/auth_callback#f",
    "https://user@claude.ai/api/mcp/auth_callback",
    "https://claude.ai@evil.example/api/mcp/auth_callback",
    "https://claude.ai\\@evil.example/api/mcp/auth_callback",
    "https://evil.claude.ai.example/api/mcp/auth_callback",
    "https://claude.ai.evil/api/mcp/auth_callback",
    "https://CLAUDE.ai/api/mcp/auth_callback",
    "HTTPS://claude.ai/api/mcp/auth_callback",
    "https://claude.ai./api/mcp/auth_callback",
    "https://claude.ai/api/mcp/auth_callback?x=1",
    "https://claude.ai/api/mcp/auth_callback/",
    "https://claude.ai/api/mcp/auth_callback\t",
    "https://claude.ai/api/mcp/auth_callback\r\nX: y",
    " https://claude.ai/api/mcp/auth_callback",
    "https://clаude.ai/api/mcp/auth_callback",  # a Cyrillic letter
    "https://claude.ai:443/api/mcp/auth_callback",
    "https://claude.ai:8443/api/mcp/auth_callback",
    "//claude.ai/api/mcp/auth_callback",
    "javascript:alert(1)",
]
LOOPBACK_SPELLINGS = [
    "http://127.0.0.1.evil/callback",
    "http://127.0.0.1@evil.example/callback",
    "http://127.0.0.1:1@evil.example/callback",
    "http://127.1:54212/callback",
    "http://2130706433:54212/callback",
    "http://0x7f000001/callback",
    "http://0177.0.0.1/callback",
    "http://0.0.0.0:54212/callback",
    "http://[::ffff:127.0.0.1]/callback",
    "http://[0:0:0:0:0:0:0:1]/callback",
    "http://[::1%25lo]/callback",
    "https://127.0.0.1:54212/callback",
    "https://localhost/callback",
    "http://localhost.:54212/callback",
    "http://LOCALHOST:54212/callback",
    "http://localhost:54212/callback/../x",
    "http://localhost:54212/other",
    "http://localhost:99999/callback",
    "http://localhost:54212x/callback",
    "http://localhost\\.evil.example/callback",
]


@pytest.mark.parametrize("uri", HOSTED_SPELLINGS)
def test_no_other_spelling_of_a_hosted_redirect_leads_anywhere(place: Place, client: Connection, uri: str) -> None:
    """Attacks 8 and 9; GHSA-wx5f-576r-gpcx (turbo-ea PR 757), coroot#929, anythingmcp PR 417, cartesia-mcp PR 67."""
    assert is_a_dead_end(browser(place).open(client.authorize_url(redirect_uri=uri)))


@pytest.mark.parametrize("uri", LOOPBACK_SPELLINGS)
def test_no_other_spelling_of_this_machine_leads_anywhere(place: Place, uri: str) -> None:
    """Attacks 8 and 9: any port, and nothing else."""
    client = place.connection(CLAUDE_CODE)
    client.discover()
    client.introduce()
    assert is_a_dead_end(browser(place).open(client.authorize_url(redirect_uri=uri)))


@pytest.mark.parametrize(
    "state", ["a\r\nSet-Cookie: x=1", "<script>alert(1)</script>", "%00%0d", "ä✓", "a&b=c#d", "x" * 10_000]
)
def test_a_state_comes_back_as_it_was_or_not_at_all(place: Place, client: Connection, state: str) -> None:
    """Attack 12: encoded, never as a header or as markup; of 10 KB only with an error page."""
    for more in ({}, {"scope": "nonsense"}):
        page = browser(place).open(client.authorize_url(state=state, **more))
        assert "set-cookie" not in page.answer.headers or "x=1" not in page.answer.headers["set-cookie"]
        assert "<script" not in page.answer.text
        if page.leads_to is not None:
            assert parse_qs(urlsplit(page.leads_to).query)["state"] == [state]
        else:
            assert page.status == (400 if len(state) > 4096 else 200)


def test_no_error_repeats_what_was_sent(place: Place, client: Connection) -> None:
    """Attack 13, attack 27: neither at the client's redirect nor on a page."""
    marked = "Zq7<b>\"'&Zq7"
    for name in ("scope", "response_type", "code_challenge", "resource", "request", "prompt", "response_mode"):
        page = browser(place).open(client.authorize_url(**{name: marked}))
        assert "Zq7" not in (page.leads_to or "").partition("state=")[0] + page.answer.text.replace("Zq7&lt;", "")
    for name in ("client_id", "redirect_uri"):
        page = browser(place).open(client.authorize_url(**{name: marked}))
        assert is_a_dead_end(page)
        assert "Zq7" not in page.answer.text


# -- the form ------------------------------------------------------------------------------------------------------------


def opened(place: Place, client: Connection) -> tuple[PlainBrowser, Page, dict[str, str]]:
    """A browser on the page, and what it would send to allow it."""
    one = browser(place)
    page = one.open(client.authorize_url())
    form = next(form for form in page.forms if form.passwords)
    fields = {name: values[0] for name, values in form.fields.items()}
    return one, page, {**fields, form.passwords[0]: place.passphrase, "decision": "allow"}


def posted(place: Place, fields: dict[str, str], headers: dict[str, str]) -> tuple[int, str]:
    answer = place.internet.ask("POST", CONSENT, {**FORM, **headers}, form=fields)
    assert "location" not in answer.headers
    return answer.status_code, answer.text


def cookie_of(one: PlainBrowser) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in one.cookies.items())}


def test_the_form_counts_from_its_own_page_and_browser_only(place: Place, client: Connection) -> None:
    """Attacks 18, 19, 20, 21 and 22: the passphrase is right each time, and nothing is allowed until the last but one."""
    one, _, fields = opened(place, client)
    other, _, _ = opened(place, client)
    wrong = {
        "without the cookie": {},
        "with another browser's": cookie_of(other),
        "from a foreign page": {**cookie_of(one), "Origin": "https://evil.example"},
        "from a page that hides": {**cookie_of(one), "Origin": "null"},
        "from elsewhere, without an Origin": {**cookie_of(one), "Origin": "", "Sec-Fetch-Site": "cross-site"},
    }
    for how, headers in wrong.items():
        status, text = posted(place, fields, headers)
        assert 400 <= status < 500, how
        assert "code=" not in text, how
    status, text = posted(place, fields, cookie_of(one))
    assert status == 200
    assert "code=" in text
    status, text = posted(place, fields, cookie_of(one))
    assert 400 <= status < 500
    assert "code=" not in text


def test_fields_of_the_form_change_nothing_that_was_asked(place: Place, client: Connection) -> None:
    """Attack 24: what was asked for stands in our row, and the form carries but the owner's choice."""
    one = browser(place)
    page = one.open(client.authorize_url(scope="vault:read"))
    forged = {
        "client_id": "https://chatgpt.com/oauth/client.json",
        "redirect_uri": "https://chatgpt.com/connector_platform_oauth_redirect",
        "scope": "vault:read vault:write",
        "scopes": "vault:write",
        "access": "write",
        "state": "forged",
        "resource": "https://other.example",
    }
    form = next(form for form in page.forms if form.passwords)
    sent = one.submit(page, "Allow", {form.passwords[0]: place.passphrase, **forged})
    assert sent.leads_to is not None
    answer = client.exchange(client.code_from(sent.leads_to))
    assert answer.json()["scope"] == "vault:read"


def test_the_forms_address_cannot_be_opened(place: Place) -> None:
    """Attack 25: GET is 405."""
    assert place.internet.ask("GET", CONSENT).status_code == 405


def test_no_page_can_be_framed_or_kept(place: Place, client: Connection) -> None:
    """Attack 26: the page itself, errors, the answer, and what says no."""
    one, page, fields = opened(place, client)
    answers = [
        page.answer,
        browser(place).open(client.authorize_url(client_id="unknown")).answer,
        browser(place).open(client.authorize_url(redirect_uri="https://evil.example")).answer,
        place.internet.ask("POST", CONSENT, {**FORM, **cookie_of(one)}, form={**fields, "request": "x"}),
        place.internet.ask("POST", CONSENT, {**FORM, **cookie_of(one)}, form={**fields, "passphrase": "wrong"}),
        place.internet.ask("POST", CONSENT, {**FORM, **cookie_of(one)}, form=fields),
    ]
    for answer in answers:
        assert answer.headers["content-type"].startswith("text/html")
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "base-uri 'none'" in policy
        assert "script-src" not in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "referrer-policy" in answer.headers


@pytest.mark.parametrize(
    "name",
    ['"><script>alert(1)</script>', "</title><h1>x", "Claude\u202egnp.exe", "a\u0000b", "{{ 7*7 }}", "'-alert(1)-'"],
)
def test_a_name_is_words_on_the_page_and_no_markup(place: Place, name: str) -> None:
    """Attack 27: in the title, in the text and in attributes."""
    client = place.connection(replace(CLAUDE_REGISTERED, name=name))
    client.discover()
    client.introduce()
    page = browser(place).open(client.authorize_url())
    assert page.status == 200
    assert "<script" not in page.answer.text
    assert "<h1>x" not in page.answer.text
    assert "\u202e" not in page.answer.text
    assert "49" not in page.text.partition("wants to use")[0]
    assert "Unverified" in page.text


def test_each_sign_in_is_asked_again(place: Place) -> None:
    """Attack 31: for every client, also in the browser that just said yes."""
    for connector in (CLAUDE, CHATGPT, CODEX):
        client = place.connected(connector)
        owner = place.owner()
        owner.allow(client.authorize_url())
        again = owner.browser.open(client.authorize_url())
        assert (again.status, again.leads_to) == (200, None)
        assert any(form.passwords for form in again.forms)


def test_twenty_sign_ins_at_once_stay_small(tmp_path: Path) -> None:
    """Attack 33: each passphrase takes 64 MiB to look at, so they are looked at one at a time."""
    with Place.open(tmp_path) as place:
        client = place.connection(CLAUDE)
        client.discover()
        client.introduce()
        owners = [place.owner() for _ in range(20)]
        pages = [owner.browser.open(client.authorize_url()) for owner in owners]
        with ThreadPoolExecutor(20) as pool:
            sent = list(pool.map(lambda pair: pair[0].allowed(pair[1]), zip(owners, pages, strict=True)))
        status = Path(f"/proc/{place.service.process.pid}/status").read_text(encoding="ascii")
    assert {page.status for page in sent} <= {200, 429}
    assert any(page.leads_to for page in sent)
    peak_kib = int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])
    assert peak_kib < 200 * 1024
