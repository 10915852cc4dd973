"""Passkeys in a real Chromium, with its virtual authenticator: made with a code, used instead of the passphrase.

issue 5; decisions.md 19. The address is `http://localhost`, where browsers make passkeys without https.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tests.support import browser
from tests.support.browser import Chromium, Tab
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
