"""Passkeys in a real Chromium, with its virtual authenticator: made with a code, used instead of the passphrase.

issue 5; decisions.md 19. The address is `http://localhost`, where browsers make passkeys without https.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.support import browser
from tests.support.browser import Chromium, Tab
from tests.support.front_door import CHALLENGE, CLAUDE, CLAUDE_BACK
from tests.support.service import Service

browser.require()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium.started(tmp_path_factory.mktemp("chromium")) as chromium:
        yield chromium


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """On a port that is known before it starts, since the address is part of every passkey."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    folder = tmp_path_factory.mktemp("service")
    with Service.start(folder, PORT=str(port), PUBLIC_URL=f"http://localhost:{port}") as service:
        yield service


def base(service: Service) -> str:
    return f"http://localhost:{service.port}"


def with_device(tab: Tab, *, is_verified: bool = True) -> str:
    """Give the tab's device an authenticator that keeps passkeys; its id."""
    tab.ask("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": is_verified,
        "automaticPresenceSimulation": True,
    }
    return str(tab.ask("WebAuthn.addVirtualAuthenticator", options=options)["authenticatorId"])


def add_passkey(tab: Tab, service: Service, name: str) -> None:
    """As a person does it: open the address, type the code, follow the device."""
    told = service.cli_json("auth", "passkey", "add", "--name", name)
    assert told["url"] == f"{base(service)}/oauth/passkey/add"
    tab.open(told["url"])
    tab.click("#code")
    tab.write(told["code"])
    with tab.loading():
        tab.press("Enter")
    with tab.loading():
        tab.click("button.primary")


def test_a_passkey_is_made_with_the_code_and_kept_by_the_device(chromium: Chromium, service: Service) -> None:
    """The issue: registered with a one-time code from the command line."""
    tab = chromium.tab()
    device = with_device(tab)
    add_passkey(tab, service, "virtual")
    tab.look(320, is_dark=False)
    assert tab.see("document.querySelector('.command').textContent") == "strongroom auth passphrase --off"
    assert tab.see("[...document.querySelectorAll('.command span')].map(word => word.getClientRects().length)") == [1]
    assert "The passkey is added" in tab.text
    [kept] = tab.ask("WebAuthn.getCredentials", authenticatorId=device)["credentials"]
    assert kept["rpId"] == "localhost"
    assert kept["isResidentCredential"]
    assert [row["name"] for row in service.cli_json("auth", "passkey", "list")] == ["virtual"]
    assert tab.said == []


def asking(service: Service) -> str:
    """Where a client sends the owner."""
    query = {
        "response_type": "code",
        "client_id": CLAUDE,
        "redirect_uri": CLAUDE_BACK,
        "state": "st4te",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    return f"{base(service)}/oauth/authorize?{urlencode(query)}"


def at_the_passkey_page(tab: Tab, service: Service) -> None:
    """The consent page, and from there to the other way in."""
    tab.stand_in("https://claude.ai")
    tab.open(asking(service))
    with tab.loading():
        tab.click('form[action="/oauth/passkey"] button')


def events(service: Service, name: str) -> list[str]:
    told = service.cli("auth", "log", "--json").stdout
    return [line for line in told.splitlines() if f'"event": "{name}"' in line or f'"event":"{name}"' in line]


def test_a_passkey_lets_a_client_in_without_the_passphrase(chromium: Chromium, service: Service) -> None:
    """The issue: an alternative to the passphrase, on a phone; the same choices as ever, and the code comes back."""
    tab = chromium.tab()
    with_device(tab)
    add_passkey(tab, service, "signs in")
    at_the_passkey_page(tab, service)
    with tab.loading():
        tab.click("button[data-with-passkey]")
    assert not tab.see("!!document.querySelector('#passphrase')")
    tab.click('input[name="access"][value="read"]')
    tab.click('button[value="allow"]')
    code = parse_qs(urlsplit(tab.arrived_at(CLAUDE_BACK)).query)
    assert code["iss"] == [base(service)]
    assert code["code"][0].startswith("src_")
    assert any('"signs in"' in line for line in events(service, "login_ok"))
    assert [row for row in service.cli_json("tokens", "list") if row["scopes"] == ["vault:read"]]
    assert tab.said == []


def test_the_keyboard_alone_does_it(chromium: Chromium, service: Service) -> None:
    """The issue's rule for the consent page, held here too."""
    tab = chromium.tab()
    with_device(tab)
    add_passkey(tab, service, "by keyboard")
    tab.stand_in("https://claude.ai")
    tab.open(asking(service))
    for selector in ('form[action="/oauth/passkey"] button', "button[data-with-passkey]"):
        tab.tab_to(selector)
        with tab.loading():
            tab.press("Enter")
    tab.tab_to('button[value="allow"]')
    tab.press("Enter")
    assert "code=src_" in tab.arrived_at(CLAUDE_BACK)


def test_a_device_that_does_not_know_its_owner_signs_nothing(chromium: Chromium, service: Service) -> None:
    """User verification is required: the browser says no, the page says so, and can be used again."""
    tab = chromium.tab()
    device = with_device(tab)
    add_passkey(tab, service, "locked")
    at_the_passkey_page(tab, service)
    tab.ask("WebAuthn.setUserVerified", authenticatorId=device, isUserVerified=False)
    before = len(tab.asked)
    tab.click("button[data-with-passkey]")
    told = "document.getElementById('passkey-note').textContent"
    browser.wait_until(lambda: tab.see(told).startswith("Nothing was signed"), lambda: tab.see(told))
    assert [one for one in tab.asked[before:] if one.method == "POST"] == [], "nothing was sent"
    tab.ask("WebAuthn.setUserVerified", authenticatorId=device, isUserVerified=True)
    with tab.loading():
        tab.click("button[data-with-passkey]")
    assert tab.see("!!document.querySelector('button[value=\"allow\"]')")


def test_a_removed_passkey_and_another_site_open_nothing(chromium: Chromium, service: Service) -> None:
    """A removed one is refused here although the device still offers it; another site is not even offered ours
    (WebAuthn §5.1.3)."""
    tab = chromium.tab()
    with_device(tab)
    add_passkey(tab, service, "lost phone")
    keeper = chromium.tab()
    with_device(keeper)
    add_passkey(keeper, service, "at home")
    at_the_passkey_page(tab, service)
    assert service.cli("auth", "passkey", "remove", "lost phone").returncode == 0
    with tab.loading():
        tab.click("button[data-with-passkey]")
    assert "was not accepted" in tab.text
    foreign = chromium.tab()
    with_device(foreign)
    foreign.stand_in("https://evil.example")
    foreign.open("https://evil.example/")
    asked = "{publicKey:{challenge:new Uint8Array(32),rpId:'localhost',userVerification:'required'}}"
    assert foreign.see(f"navigator.credentials.get({asked}).then(()=>'signed',e=>e.name)") == "SecurityError"


def test_a_sign_in_waits_in_the_browser_that_began_it(chromium: Chromium, service: Service) -> None:
    """attack 19: the owner's form and passkey in another browser open nothing."""
    tab, other = chromium.tab(), chromium.tab()
    with_device(tab)
    add_passkey(tab, service, "first browser")
    at_the_passkey_page(tab, service)
    token = tab.see("document.querySelector('input[name=request]').value")
    other.open(f"{base(service)}/oauth/passkey/add")
    with other.loading():
        other.see(
            "(()=>{const f=document.querySelector('form');f.action='/oauth/passkey';"
            f"const i=document.createElement('input');i.name='request';i.value={token!r};f.append(i);f.submit()}})()"
        )
    assert "too old" in other.text


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing_wrong_with_the_pages(
    chromium: Chromium, service: Service, width: int, is_dark: bool
) -> None:
    """The issue: axe-core finds nothing at 360 and 1280 pixels in light and dark; no page is wider than the screen."""
    browser.require_axe()
    tab = chromium.tab()
    with_device(tab)
    tab.look(width, is_dark=is_dark)
    told = service.cli_json("auth", "passkey", "add", "--name", f"axe {width} {is_dark}")

    def look() -> None:
        assert tab.complaints() == []
        assert tab.see("document.documentElement.scrollWidth") <= width

    tab.open(told["url"])
    look()
    for code in ("wrong", told["code"]):
        tab.click("#code")
        tab.write(code)
        with tab.loading():
            tab.press("Enter")
        look()
    with tab.loading():
        tab.click("button.primary")
    look()
    at_the_passkey_page(tab, service)
    look()
