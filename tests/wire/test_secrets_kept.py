"""Every secret of a whole run, looked for in everything that the run left behind.

The issue: a scan finds no issued secret in database, journal, logs, audit or the vault's git objects (the image's layers:
tests/container/test_secrets.py). auth.md attack lines 84, 87 and 88.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import replace
from html import unescape
from pathlib import Path

from tests.support import scan
from tests.support.authenticator import Authenticator
from tests.support.connectors import CLAUDE, CODEX, CURSOR
from tests.support.internet import Internet
from tests.support.oauth_client import Connection, Owner, Tokens
from tests.support.plain_browser import Page, PlainBrowser
from tests.support.sign_in import PUBLIC_URL, Place
from tests.support.split import KEY, split

ORIGIN_SECRET = "origin-" + "0123456789abcdef" * 3


class Kept(dict[str, str]):
    """The secrets by name. Each is noted when it is known, so a run that ends early is still looked through."""

    def note(self, name: str, secret: str) -> str:
        assert secret
        self[f"{name} {len(self)}"] = secret
        return secret


def test_no_secret_of_a_whole_run_is_left_anywhere(tmp_path: Path) -> None:
    """attacks 84 and 88: at debug level, with everything that can go wrong on the way."""
    kept, origin_file = Kept(), tmp_path / "origin"
    origin_file.write_text(kept.note("origin secret", ORIGIN_SECRET))
    folder = tmp_path / "run"
    (folder / "vault").mkdir(parents=True)
    settings = {"LOG_LEVEL": "debug", "ORIGIN_SECRET_FILE": str(origin_file)}
    with Place.open(folder, **settings) as place:
        place.internet.more_headers = {"X-Origin-Secret": ORIGIN_SECRET}
        static = kept.note("static token", place.service.token("laptop"))
        first = place.service.cli("auth", "passphrase", "--show-initial").stdout.strip()
        owner = Owner(place.internet, kept.note("first passphrase", first))
        claude = sign_in(owner, kept, place.connection(CLAUDE))
        use(claude, kept)
        misuse(place, owner, kept, claude, static)
        owner = renewed(place, kept, tmp_path)
        from_the_machine(place, owner, kept)
        with_a_passkey(place, kept)
        place.service.cli("tokens", "revoke", "--all")
        place.service.cli("commit")
        found = scan.leaks(kept, scan.process(place.service.process.pid), scan.files(place.service.state))
        place.service.stop()
    assert len(kept) > 40
    assert issued(found) == []
    everything = [*scan.files(folder), *scan.git_objects(folder / "state" / "history.git")]
    assert issued(scan.leaks(kept, everything)) == []
    assert scan.leaks({"a note": "written by the client"}, everything), "it looks where things are written"


def test_the_key_of_a_split_strongroom_stays_where_it_was_given(tmp_path: Path) -> None:
    """attack 84: neither half writes it down, and what crosses the tunnel does not hold it or any token."""
    with split(tmp_path, PUBLIC_URL=PUBLIC_URL, LOG_LEVEL="debug", home={"LOG_LEVEL": "debug"}) as both:
        kept = Kept()
        kept.note("edge key", KEY)
        internet = Internet(PUBLIC_URL, both.edge.port)
        first = both.edge.cli("auth", "passphrase", "--show-initial").stdout.strip()
        place = Place(both.edge, internet)
        use(sign_in(Owner(internet, kept.note("first passphrase", first)), kept, place.connection(CODEX)), kept)
        both.home.cli("commit")
        both.edge.stop()
        both.home.stop()
        crossed = [("the tunnel", bytes(one)) for one in both.tunnel.sent]
    folders = [scan.files(tmp_path / half) for half in ("edge", "home")]
    history = scan.git_objects(tmp_path / "home" / "state" / "history.git")
    assert issued(scan.leaks(kept, crossed, *folders, history)) == []


def issued(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without the one word that has to be kept as it is, in the database and nowhere else: a client's own `state`, which
    waits there to be sent back (RFC 6749 §4.1.2)."""
    return [(name, where) for name, where in found if not (name.startswith("state ") and "strongroom.db" in where)]


# -- the run -----------------------------------------------------------------------------------------------------------


def sign_in(owner: Owner, kept: Kept, client: Connection) -> Connection:
    """From the 401 to the tokens, with a typing error on the way."""
    client.discover()
    client.introduce()
    page = opened(owner.browser, client, kept)
    (field,) = (one for form in page.forms for one in form.passwords)
    wrong = kept.note("mistyped passphrase", f"wrong {secrets.token_hex(8)} passphrase")
    page = owner.browser.submit(page, "Allow", {field: wrong})
    assert page.status == 403
    return exchanged(client, left(owner.browser.submit(page, "Allow", {field: owner._passphrase})), kept)


def opened(browser: PlainBrowser, client: Connection, kept: Kept) -> Page:
    """The page that asks, and the secrets that belong to it."""
    page = browser.open(client.authorize_url())
    assert page.status == 200, page.text
    kept.note("state", client._state)
    kept.note("verifier", client._verifier)
    for cookie in browser.cookies.values():
        kept.note("cookie", cookie)
    kept.note("form token", next(form.fields["request"][0] for form in page.forms if "request" in form.fields))
    code = re.search(r"auth approve ([0-9A-Z]{4}-[0-9A-Z]{4})", page.text)
    assert code is not None
    kept.note("approve code", code[1])
    return page


def left(page: Page) -> str:
    assert page.leads_to is not None, page.text
    return page.leads_to


def exchanged(client: Connection, location: str, kept: Kept) -> Connection:
    code = kept.note("code", client.code_from(location))
    answer = client.exchange(code)
    assert answer.status_code == 200, answer.text
    client.tokens = Tokens.of(answer)
    kept.note("access token", client.tokens.access)
    kept.note("refresh token", client.tokens.refresh)
    return client


def use(client: Connection, kept: Kept) -> None:
    """A day's work: calls that read, write and fail, a renewal, and an answer that was lost."""
    client.talk.call("create_note", path="By the client.md", content="written by the client\n")
    client.talk.call("read_note", path="By the client.md")
    client.talk.call("read_note", path="none such.md")
    for _ in range(3):
        assert client.tokens is not None
        before = client.tokens.refresh
        told = client.renew()
        kept.note("access token", told.access)
        kept.note("refresh token", told.refresh)
        client.refresh(before)
    client.talk.ask("tools/list")


def misuse(place: Place, owner: Owner, kept: Kept, client: Connection, static: str) -> None:
    """Secrets in places where they do not belong."""
    assert client.tokens is not None
    ask, tokens = place.internet.ask, client.tokens
    for token in (tokens.access, tokens.refresh, static, next(kept[name] for name in kept if name.startswith("code"))):
        ask(
            "POST", f"{PUBLIC_URL}/mcp?access_token={token}", {"Authorization": f"Basic {token}"}, json={"token": token}
        )
        ask("GET", f"{PUBLIC_URL}/{token}?code={token}&state={token}", {"Cookie": f"x={token}", "Referer": token})
        ask(
            "GET",
            f"{PUBLIC_URL}/oauth/authorize?client_id={token}&state={token}&redirect_uri=https://x.example/{token}",
        )
        ask("POST", f"{PUBLIC_URL}/oauth/token", form={"grant_type": token, "code": token, "client_id": token})
        ask("POST", f"{PUBLIC_URL}/oauth/token", json={"refresh_token": token})
        ask(
            "POST", f"{PUBLIC_URL}/oauth/register", json={"client_name": token, "redirect_uris": [f"https://x/{token}"]}
        )
        ask("POST", f"{PUBLIC_URL}/oauth/consent", form={"request": token, "passphrase": token, "decision": "allow"})
        client.talk.call("read_note", path=token)
    client.exchange(secrets.token_urlsafe(32), code_verifier=kept.note("verifier", secrets.token_urlsafe(48)))
    denied = place.connection(replace(CURSOR, name="Denied"))
    denied.discover()
    denied.introduce()
    owner.browser.submit(opened(owner.browser, denied, kept), "Deny")
    client.revoke(tokens.access)
    client.revoke(tokens.refresh)


def renewed(place: Place, kept: Kept, folder: Path) -> Owner:
    """A passphrase of the owner's own from a file, then one that is made."""
    file = folder / "passphrase"
    file.write_text(kept.note("chosen passphrase", f"a fine passphrase {secrets.token_hex(8)}"))
    assert place.service.cli("auth", "passphrase", "--file", str(file)).returncode == 0
    made = place.service.cli("auth", "passphrase", "--generate").stdout.strip()
    return Owner(place.internet, kept.note("made passphrase", made))


def from_the_machine(place: Place, owner: Owner, kept: Kept) -> None:
    """The second door."""
    client = place.connection(CODEX)
    client.discover()
    client.introduce()
    page = opened(owner.browser, client, kept)
    code = next(secret for name, secret in reversed(kept.items()) if name.startswith("approve code"))
    done = place.service.cli("auth", "approve", code, "--yes")
    assert done.returncode == 0, done.stderr
    waiting = owner.browser.open(f"{PUBLIC_URL}/oauth/wait?approval={code}")
    assert page.status == 200
    use(exchanged(client, left(waiting), kept), kept)


def with_a_passkey(place: Place, kept: Kept) -> None:
    """A passkey is made and used."""
    told, phone = place.service.cli_json("auth", "passkey", "add", "--name", "phone"), Authenticator()
    kept.note("passkey code", told["code"])
    kept.note("passkey code", told["code"].replace("-", ""))
    browser = PlainBrowser(place.internet)
    page = browser.submit(browser.open(told["url"]), "Go on", {"code": told["code"]})
    made = phone.make(options(page, kept), origin=PUBLIC_URL)
    for cookie in browser.cookies.values():
        kept.note("cookie", cookie)
    assert "added" in browser.submit(page, "Make", {"credential": made}).text
    client = place.connection(CLAUDE)
    client.discover()
    client.introduce()
    page = browser.submit(opened(browser, client, kept), "Use a passkey")
    signed = browser.submit(page, "Use a passkey", {"credential": phone.sign(options(page, kept), origin=PUBLIC_URL)})
    exchanged(client, left(browser.submit(signed, "Allow")), kept)


def options(page: Page, kept: Kept) -> str:
    found = re.search(r'data-passkey="([^"]*)"', page.answer.text)
    assert found is not None, page.text
    kept.note("challenge", json.loads(unescape(found[1]))["challenge"])
    return unescape(found[1])
