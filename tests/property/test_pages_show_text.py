"""Whatever a client calls itself, asks for or sends, the owner's pages show it as text and are otherwise the same.

Attack 27, and the page parts of 12 and 13.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from httpx import Response
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from service.auth.asked import Asked, Client
from service.auth.model import SCOPES
from service.guards.invisible import has_invisible
from service.web.oauth import door as door_
from tests.support.front_door import BASE, CHALLENGE, FrontDoor, allowing, asking, sent_to, token_of

AWKWARD = st.sampled_from(
    (
        *('"><script>alert(1)</script>', "</title><img src=x onerror=alert(1)>", "' autofocus onfocus=alert(1) x='"),
        *("</textarea><b>", "</style><b>", "<!--", "]]>", "{{ 7*7 }}", "{% raw %}", "&lt;b&gt;", "javascript:alert(1)"),
        *(
            "\u202egro.live",
            "\u2066x\u2069",
            "\u200b",
            "a\r\nSet-Cookie: x=1",
            "\x00",
            "\u2028",
            "</option></select><b>",
        ),
    )
)
ANYTHING = st.one_of(AWKWARD, st.text(max_size=60), st.builds(str.__add__, AWKWARD, AWKWARD))
TRIES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

Skeleton = list[tuple[str, tuple[str, ...]]]


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FrontDoor]:
    with FrontDoor.opened(tmp_path_factory.mktemp("door")) as opened:
        yield opened


def skeleton(page: Response) -> Skeleton:
    """Every element of the page with the names of its attributes: what text must not be able to change."""
    return [(node.tag or "", tuple(sorted(node.attributes))) for node in LexborHTMLParser(page.text).css("*")]


def shown(door: FrontDoor, client: Client, state: str | None = "s") -> Response:
    """The consent page for this client, as it comes back after a wrong passphrase."""
    asked = Asked(client, client.redirect_uris[0], state, CHALLENGE, frozenset(SCOPES), f"{BASE}/mcp")
    opened, browser = door.desk.approvals.open(asked), door.browser()
    browser.cookies.set(door_.cookie_name(BASE), opened.cookie)
    return browser.post("/oauth/consent", data={"request": opened.token, "decision": "allow", "days": "0"})


PLAIN = Client("c", "dcr", "Plain", None, ("https://app.example/cb",))


@TRIES
@given(name=ANYTHING)
def test_a_name_is_text(door: FrontDoor, name: str) -> None:
    """Attack 27."""
    page = shown(door, replace(PLAIN, name=name))
    assert skeleton(page) == skeleton(shown(door, PLAIN))
    heading = LexborHTMLParser(page.text).css_first("h1 bdi")
    assert heading is not None
    assert not has_invisible(heading.text())


@TRIES
@given(domain=ANYTHING.filter(bool), host=ANYTHING)
def test_a_domain_and_a_redirect_are_text(door: FrontDoor, domain: str, host: str) -> None:
    """Attack 27, however they got past the checks before."""
    like = replace(PLAIN, domain="app.example", redirect_uris=("app:cb",))
    page = shown(door, replace(like, domain=domain, redirect_uris=(f"app:{host}",)))
    assert skeleton(page) == skeleton(shown(door, like))


@TRIES
@given(folders=ANYTHING, days=ANYTHING, access=ANYTHING)
def test_what_was_filled_in_comes_back_as_text(door: FrontDoor, folders: str, days: str, access: str) -> None:
    """Attack 27."""
    browser = door.browser()
    form = allowing(browser.get(asking()), passphrase="", folders=folders, days=days, access=access)
    again = browser.post("/oauth/consent", data=form)
    assert again.status_code in (400, 403, 429)
    door.desk.throttle.right()
    tags = {tag for tag, _ in skeleton(again)}
    assert tags <= {tag for tag, _ in skeleton(browser.get(asking()))} | {"p", "option"}
    assert not [names for _, names in skeleton(again) if any(name.startswith("on") for name in names)]
    assert len(LexborHTMLParser(again.text).css("textarea, select, form, input[name=passphrase]")) == 5


@TRIES
@given(state=ANYTHING)
def test_a_state_goes_back_as_it_came_and_is_no_header_and_no_element(door: FrontDoor, state: str) -> None:
    """Attack 12."""
    browser = door.browser()
    asked = Asked(PLAIN, PLAIN.redirect_uris[0], state, CHALLENGE, frozenset(SCOPES), f"{BASE}/mcp")
    opened = door.desk.approvals.open(asked)
    browser.cookies.set(door_.cookie_name(BASE), opened.cookie)
    page = browser.post("/oauth/consent", data={"request": opened.token, "decision": "deny"})
    location = sent_to(page)
    assert location.isascii()
    assert location.isprintable()
    assert not set(location) & set("<>\"' ")
    assert [tag for tag, _ in skeleton(page)].count("a") == 1
    assert "set-cookie" not in page.headers


@TRIES
@given(
    field=st.sampled_from(
        ("client_id", "redirect_uri", "scope", "state", "response_type", "code_challenge", "resource")
    ),
    value=ANYTHING,
)
def test_no_parameter_is_ever_more_than_text(door: FrontDoor, field: str, value: str) -> None:
    """Attacks 12, 13 and 27, at the first door: a page, or a redirect to the client's own address and nowhere else."""
    page = door.browser().get(asking(**{field: value}))
    assert page.status_code in (200, 302, 400)
    if page.status_code == 302:
        assert page.headers["location"].startswith("https://claude.ai/api/mcp/auth_callback?")
        assert page.headers["location"].isascii()
        return
    tags = {tag for tag, _ in skeleton(page)}
    assert not tags & {"script", "img", "iframe", "b" if page.status_code == 400 else "script", "object"}
    if page.status_code == 400:
        assert value.strip() == "" or len(value) < 4 or value not in page.text
    else:
        assert token_of(page)
