"""The passphrase at its real cost, in the real process: how long one sign-in takes, and what many at once take of the memory."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.support import internet
from tests.support.front_door import CHALLENGE, CLAUDE, CLAUDE_BACK
from tests.support.internet import Internet
from tests.support.plain_browser import Page, PlainBrowser
from tests.support.service import Service

AT_ONCE = 20
MAX_MORE_KIB = 100 * 1024
"""One hash takes 64 MiB; twenty would take 1.3 GiB."""

MAX_PEAK_KIB = 200 * 1024


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service.start(tmp_path_factory.mktemp("service")) as service:
        yield service


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of many waits for all others, and the machine may be busy with other tests."""
    monkeypatch.setattr(internet, "PATIENCE_S", 30)


def begun(service: Service) -> tuple[PlainBrowser, Page]:
    """A browser of its own with the consent page in it."""
    query = {
        "response_type": "code",
        "client_id": CLAUDE,
        "redirect_uri": CLAUDE_BACK,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    browser = PlainBrowser(Internet(service.url, service.port))
    return browser, browser.open(f"{service.url}/oauth/authorize?{urlencode(query)}")


def peak_kib(service: Service) -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{service.process.pid}/status").read_text())
    assert found is not None
    return int(found[1])


def test_twenty_sign_ins_at_once_take_the_memory_of_one_and_none_is_taken_for_a_guess(service: Service) -> None:
    """Attack 33: one at a time, away from the event loop; some wait in line, the rest are told to come back, and then come in."""
    passphrase = (service.state / "initial-passphrase").read_text().strip()
    waiting = [begun(service) for _ in range(AT_ONCE)]
    before = peak_kib(service)

    def sign_in(one: tuple[PlainBrowser, Page]) -> Page:
        browser, page = one
        return browser.submit(page, "Allow", {"passphrase": passphrase})

    with ThreadPoolExecutor(AT_ONCE) as pool:
        under_way = [pool.submit(sign_in, one) for one in waiting]
        asked = time.monotonic()
        assert service.ask("/healthz").status == 200
        answered_s = time.monotonic() - asked
        began = time.monotonic()
        pages = [one.result() for one in under_way]
        took_s = time.monotonic() - began
    assert answered_s < took_s  # the event loop went on meanwhile
    assert {page.status for page in pages} <= {200, 429}
    later = [(browser, page) for (browser, _), page in zip(waiting, pages, strict=True) if page.status == 429]
    for browser, page in later[:2]:
        assert page.answer.headers["retry-after"] == "2"
        assert browser.submit(page, "Allow", {"passphrase": passphrase}).status == 200
    assert peak_kib(service) - before < MAX_MORE_KIB
    assert peak_kib(service) < MAX_PEAK_KIB


def test_fifty_wrong_guesses_at_once_are_five_looks(service: Service) -> None:
    """Attack 30: whichever come first are looked at, all others wait."""
    waiting = [begun(service) for _ in range(50)]

    def guess(one: tuple[PlainBrowser, Page]) -> int:
        browser, page = one
        return browser.submit(page, "Allow", {"passphrase": "wrong"}).status

    with ThreadPoolExecutor(25) as pool:
        statuses = list(pool.map(guess, waiting))
    assert statuses.count(403) == 5
    assert statuses.count(429) == 45
    assert len(service.lines("login.failed")) == 5
