"""The consent page in a real Chromium: what people press, where they end up, and what axe-core says about each page.

issue 5; auth.md 2.6; attack 32. The clients' sites are stand-ins, nothing leaves this machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.support import browser
from tests.support.browser import Chromium, Tab
from tests.support.front_door import CHALLENGE, CLAUDE, CLAUDE_BACK
from tests.support.service import Service

browser.require()

CODE = "https://claude.ai/oauth/claude-code-client-metadata"
LOOPBACK = "http://127.0.0.1:45454"
CURSOR_BACK = "cursor://anysphere.cursor-mcp/oauth/callback"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium.started(tmp_path_factory.mktemp("chromium")) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    (folder / "vault" / "Projects").mkdir(parents=True)
    with Service.start(folder) as service:
        yield service


@pytest.fixture(scope="module")
def passphrase(service: Service) -> str:
    """The one that was made at the first start, as the file holds it until it is shown."""
    return (service.state / "initial-passphrase").read_text().strip()


@pytest.fixture
def tab(chromium: Chromium) -> Tab:
    tab = chromium.tab()
    for site in ("https://claude.ai", LOOPBACK):
        tab.stand_in(site)
    return tab


def asking(service: Service, client: str = CLAUDE, back: str = CLAUDE_BACK, **more: str) -> str:
    query = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": back,
        "state": "st4te",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **more,
    }
    return f"{service.url}/oauth/authorize?{urlencode(query)}"


def cursor(service: Service, name: str = "Cursor") -> str:
    """A client that introduced itself, whose answers go to an app."""
    body = json.dumps({"client_name": name, "redirect_uris": [CURSOR_BACK]}).encode()
    answer = service.ask("/oauth/register", [("Content-Type", "application/json")], method="POST", body=body)
    assert answer.status == 201
    return str(json.loads(answer.body)["client_id"])


def allow(tab: Tab, passphrase: str) -> None:
    """Type the passphrase and press Enter."""
    tab.click("#passphrase")
    tab.write(passphrase)
    tab.press("Enter")


def query_of(url: str) -> Mapping[str, list[str]]:
    return parse_qs(urlsplit(url).query)


def assert_told_nobody_whence(tab: Tab, site: str) -> None:
    tab.chromium.wait_until(lambda: any(one.url.startswith(site) for one in tab.asked), f"{site} was not asked")
    told = [one for one in tab.asked if one.url.startswith(site)]
    assert all("referer" not in one.headers and one.method == "GET" for one in told)


# -- where the answer goes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("client", "back"), [(CLAUDE, CLAUDE_BACK), (CODE, f"{LOOPBACK}/callback")], ids=["https", "loopback"]
)
def test_a_yes_arrives_at_the_client_and_tells_nobody_whence(
    tab: Tab, service: Service, passphrase: str, client: str, back: str
) -> None:
    """Attack 32; auth.md 2.6: `form-action 'self'` blocks a redirect here, and a page that leads on is not blocked.

    fastmcp#2302 #3369, 1f916-ai/1f916#179: clients that were never reached.
    """
    tab.open(asking(service, client, back))
    allow(tab, passphrase)
    arrived = query_of(tab.arrived_at(back))
    assert (arrived["state"], arrived["iss"], len(arrived["code"])) == (["st4te"], [service.url], 1)
    tab.chromium.wait_until(lambda: tab.loads >= 3, "the client's page was not drawn")
    assert tab.text == "arrived"
    assert_told_nobody_whence(tab, back)
    assert tab.said == []


def test_a_yes_opens_an_app_by_itself_or_by_the_link(tab: Tab, service: Service, passphrase: str) -> None:
    """Attack 32; auth.md 2.6: for a custom scheme the link is needed where the browser wants a press."""
    tab.open(asking(service, cursor(service), CURSOR_BACK))
    assert "Unverified name" in tab.text
    with tab.loading():
        allow(tab, passphrase)
    by_itself = tab.arrived_at(CURSOR_BACK)
    assert tab.see("document.querySelector('a.primary').href") == by_itself
    before = len(tab.went)
    tab.click("a.primary")
    tab.chromium.wait_until(lambda: CURSOR_BACK in "".join(tab.went[before:]), "the link opens nothing")


def test_a_no_arrives_at_the_client(tab: Tab, service: Service) -> None:
    tab.open(asking(service))
    tab.click("button[value=deny]")
    arrived = query_of(tab.arrived_at(CLAUDE_BACK))
    assert (arrived["error"], arrived["iss"]) == (["access_denied"], [service.url])
    assert_told_nobody_whence(tab, CLAUDE_BACK)


def test_the_back_button_and_a_form_that_is_sent_again_say_that_it_was_used(
    tab: Tab, service: Service, passphrase: str
) -> None:
    """Attacks 22 and 32."""
    tab.open(asking(service))
    used_token = tab.see("document.querySelector('[name=request]').value")
    allow(tab, passphrase)
    tab.arrived_at(CLAUDE_BACK)
    tab.chromium.wait_until(lambda: tab.loads >= 3, "the client's page was not drawn")
    tab.back()
    if tab.see("document.querySelector('[name=request]').value") != used_token:
        assert (
            "This page was used already" in tab.text
        )  # the browser asked for it anew, else it shows it as it was left
    send_again(tab, used_token, passphrase)
    assert "This page was used already" in tab.text
    assert tab.see("document.forms.length") == 0


def send_again(tab: Tab, used_token: str, passphrase: str) -> None:
    """Send the form that had its answer."""
    tab.see(f"document.querySelectorAll('[name=request]').forEach(e => e.value = {json.dumps(used_token)}); 0")
    with tab.loading():
        allow(tab, passphrase)


def test_a_keyboard_alone_completes_it(tab: Tab, service: Service, passphrase: str) -> None:
    """The issue. Deny is the first stop, and Enter in a field allows."""
    tab.open(asking(service))
    tab.press("Tab")
    assert tab.see("document.activeElement.value") == "deny"
    tab.tab_to("input[name=access]")
    tab.press("ArrowUp")
    assert tab.see("document.activeElement.value") == "read"
    tab.tab_to("#folders")
    tab.write("Projects")
    tab.tab_to("#days")
    tab.press("ArrowUp")
    assert tab.see("document.activeElement.value") == "30"
    tab.tab_to("#passphrase")
    tab.write(passphrase)
    tab.press("Enter")
    tab.arrived_at(CLAUDE_BACK)
    given = service.cli_json("tokens", "list")[-1]
    assert given["scopes"] == ["vault:read"]
    assert given["folders"] == ["Projects"]


def test_whatever_has_the_focus_shows_it(tab: Tab, service: Service) -> None:
    """WCAG 2.4.7; and nothing on the page is out of a keyboard's reach."""
    tab.open(asking(service))
    stops = []
    while "summary" not in stops:
        tab.press("Tab")
        stops.append(tab.see("document.activeElement.localName"))
        assert tab.see("getComputedStyle(document.activeElement).outlineStyle") == "solid", stops
    assert stops == ["button", "input", "textarea", "select", "input", "button", "summary"]


def test_the_machine_lets_in_and_the_page_goes_on_by_itself(tab: Tab, service: Service) -> None:
    """Attack 29: the second door, without script."""
    tab.open(asking(service))
    tab.click("summary")
    with tab.loading():
        tab.click("details a")
    code = tab.see("document.querySelector('code b').textContent")
    tab.look(320, is_dark=False)  # to be read off a phone and typed elsewhere: no piece of it breaks at its dashes
    for piece in ("code b", "p code:nth-of-type(1)", "p code:nth-of-type(2)", "p code:nth-of-type(3)"):
        assert tab.see(f"document.querySelector('{piece}').getClientRects().length") == 1, piece
    assert service.cli("auth", "approve", code, "--read-only", "--yes").returncode == 0
    arrived = query_of(tab.arrived_at(CLAUDE_BACK))
    assert len(arrived["code"]) == 1
    assert_told_nobody_whence(tab, CLAUDE_BACK)


def test_a_client_that_opens_us_in_a_window_of_its_own_still_knows_that_window(tab: Tab, service: Service) -> None:
    """auth.md 7.3, COOP note: with that header `closed` would be true at once, and hosted clients would give up."""
    tab.open("https://claude.ai/settings")
    tab.ask("Runtime.evaluate", expression=f"globalThis.w = open({json.dumps(asking(service))})", userGesture=True)
    titles: list[str] = []

    def is_drawn() -> bool:
        titles[:] = [one["title"] for one in tab.chromium.ask("Target.getTargets")["targetInfos"]]
        return any(title.startswith("Claude asks for access") for title in titles)

    browser.wait_until(is_drawn, lambda: str(titles))
    assert tab.see("w.closed") is False
    tab.see("w.close(); 0")


# -- how it looks ---------------------------------------------------------------------------------------------------------


def consent(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service))


def consent_of_a_program_here(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service, CODE, f"{LOOPBACK}/callback", scope="vault:read"))


def consent_of_a_stranger(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service, cursor(service, "W" * 80), CURSOR_BACK))


def mended(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service))
    tab.click("#folders")
    tab.write("Projcets")
    with tab.loading():
        allow(tab, passphrase)
    assert "There is no folder “Projcets”" in tab.text


def wrong(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service))
    with tab.loading():
        allow(tab, "wrong")
    assert "That is not the passphrase" in tab.text


def refused(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service, "nobody"))
    assert "not known here" in tab.text


def expired(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(f"{service.url}/oauth/wait?approval=0000-0000")
    assert "too old" in tab.text


def sent(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service, cursor(service), CURSOR_BACK))
    with tab.loading():
        tab.click("button[value=deny]")
    assert "stays outside" in tab.text


def used(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service, cursor(service), CURSOR_BACK))
    used_token = tab.see("document.querySelector('[name=request]').value")
    with tab.loading():
        tab.click("button[value=deny]")
    tab.open(asking(service))
    send_again(tab, used_token, passphrase)
    assert "used already" in tab.text


def second_door(tab: Tab, service: Service, passphrase: str) -> None:
    tab.open(asking(service))
    tab.click("summary")
    with tab.loading():
        tab.click("details a")
    with tab.loading():
        tab.click("a.secondary")  # which does not load itself anew while axe looks
    assert "Look now" in tab.text


KINDS: Mapping[str, Callable[[Tab, Service, str], None]] = {
    one.__name__: one
    for one in (
        *(consent, consent_of_a_program_here, consent_of_a_stranger, mended, wrong),
        *(refused, expired, sent, used, second_door),
    )
}


def look_everywhere(tab: Tab) -> None:
    """At 360 and 1280 pixels, in light and dark: axe-core finds nothing, and nothing sticks out at the side."""
    for width in (360, 1280):
        for is_dark in (False, True):
            tab.look(width, is_dark=is_dark)
            assert tab.complaints() == [], (width, is_dark)
            assert tab.see("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("kind", KINDS)
def test_axe_finds_nothing(chromium: Chromium, service: Service, passphrase: str, kind: str) -> None:
    """The issue: at 360 and 1280 pixels in light and dark, on every kind of page."""
    browser.require_axe()
    tab = chromium.tab()
    KINDS[kind](tab, service, passphrase)
    look_everywhere(tab)
    assert tab.said == []


def test_axe_finds_nothing_where_guesses_wait_or_nobody_can_sign_in(chromium: Chromium, tmp_path: Path) -> None:
    """The kinds of page that would be in the way of the others."""
    browser.require_axe()
    with Service.start(tmp_path) as service:
        tab = chromium.tab()
        tab.open(asking(service))
        for _ in range(6):
            with tab.loading():
                allow(tab, "wrong")
        assert "Too many wrong passphrases" in tab.text
        look_everywhere(tab)
        forget_the_passphrase(service)
        tab.open(asking(service))
        assert "strongroom auth passphrase" in tab.text
        look_everywhere(tab)


def forget_the_passphrase(service: Service) -> None:
    """As in a state that was restored from before there was one."""
    from service.auth.tables import SCHEMA
    from service.store.db import Database

    database = Database(service.state, (SCHEMA,))
    with database.transaction() as connection:
        connection.execute("DELETE FROM sign_in")
    database.close()


def test_every_target_is_large_enough_for_a_thumb(tab: Tab, service: Service) -> None:
    """WCAG 2.5.5: 44 CSS pixels; the issue: the owner signs in on a phone."""
    tab.open(asking(service))
    tab.look(360, is_dark=False)
    small = tab.see(
        "[...document.querySelectorAll('button, a.button, label.option, select, textarea, #passphrase, summary')]"
        ".filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 44).map(e => e.outerHTML)"
    )
    assert small == []
