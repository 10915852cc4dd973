"""The pages of signing in without a process: a desk with a cheap passphrase hash, and browsers in front of it.

door = FrontDoor.open(tmp_path)
page = door.browser().get(door.asking(), ...)
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

from argon2 import PasswordHasher
from argon2.profiles import CHEAPEST
from httpx import Response
from starlette.routing import Router
from starlette.testclient import TestClient

from service.auth import audience
from service.auth.audit import Audit
from service.auth.grants import Grants
from service.auth.passphrase import Owner
from service.auth.tables import SCHEMA
from service.store.db import Database
from service.web import answers
from service.web.oauth.desk import Desk
from service.web.oauth.routes import routes
from service.web.oauth.threads import Threads
from tests.support.clock import HeldClock
from tests.support.rooms import settings_for

BASE: Final = "https://notes.example.org"
PASSPHRASE: Final = "a goat in nine coats"
CLAUDE: Final = "https://claude.ai/oauth/mcp-oauth-client-metadata"
CLAUDE_BACK: Final = "https://claude.ai/api/mcp/auth_callback"
VERIFIER: Final = "v" * 43
CHALLENGE: Final = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@dataclass
class FrontDoor:
    """A desk and ways to stand in front of it."""

    desk: Desk
    clock: HeldClock
    state: Path

    @staticmethod
    @contextmanager
    def opened(
        folder: Path,
        base: str = BASE,
        *,
        has_passphrase: bool = True,
        folders: Sequence[str] | None = None,
        **more: str,
    ) -> Iterator[FrontDoor]:
        """Build it below `folder`.

        Args:
            folders: those that are in the vault; None: there is no vault (the edge of a split one).
            more: settings without their prefix.
        """
        settings, clock = settings_for(folder, PUBLIC_URL=base, **more), HeldClock.at("2026-11-30T12:00:00")
        database = Database(settings.state, (SCHEMA,))
        threads = Threads(database.path)
        desk = Desk.laid_out(
            base=base,
            settings=settings,
            clock=clock,
            grants=Grants(database, clock, audience.canonical(base)),
            audit=Audit(settings.state, clock),
            threads=threads,
            missing_folders=None if folders is None else lambda named: [one for one in named if one not in folders],
        )
        cheap = Owner(database, settings.state, clock, PasswordHasher.from_parameters(CHEAPEST))
        if has_passphrase:
            cheap.set(PASSPHRASE)
        yield FrontDoor(replace(desk, owner=cheap), clock, settings.state)
        threads.close()
        database.close()

    def browser(self) -> TestClient:
        """A browser of its own, as it posts from our pages."""
        app = Router(routes(self.desk), redirect_slashes=False, default=answers.not_found)
        sent = {"Origin": self.desk.base, "Sec-Fetch-Site": "same-origin"}
        return TestClient(app, base_url=self.desk.base, headers=sent, follow_redirects=False)

    def events(self, name: str | None = None) -> list[Mapping[str, object]]:
        """The audit log; only the lines of one event when it is named."""
        return [dict(line) for line in self.desk.audit.lines() if name in (None, line["event"])]

    def granted(self) -> int:
        """How many grants there are."""
        return len(self.desk.grants.all())


def asking(**changed: str | None) -> str:
    """The path of a request of Claude's that is in order; `changed` parameters, None leaves one out."""
    usual: dict[str, str | None] = {
        "response_type": "code",
        "client_id": CLAUDE,
        "redirect_uri": CLAUDE_BACK,
        "scope": "vault:read vault:write",
        "state": "st4te",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": f"{BASE}/mcp",
    }
    return "/oauth/authorize?" + urlencode(
        {name: value for name, value in {**usual, **changed}.items() if value is not None}
    )


def token_of(page: Response) -> str:
    """The one secret of the form."""
    found = set(re.findall(r'name="request" value="([^"]+)"', page.text))
    assert len(found) == 1, page.text
    return str(found.pop())


def sent_to(page: Response) -> str:
    """Where a page leads by itself; the visible link leads there too."""
    found = re.search(r'<meta http-equiv="refresh" content="0;url=([^"]*)">', page.text)
    assert found is not None, page.text
    assert f'href="{found[1]}"' in page.text
    return unescape(found[1])


def answer_in(location: str) -> dict[str, list[str]]:
    """The parameters with which the browser is sent back."""
    return parse_qs(urlsplit(location).query, keep_blank_values=True)


def allowing(page: Response, passphrase: str = PASSPHRASE, **more: str) -> dict[str, str]:
    """What the form sends when everything is left as it is."""
    return {
        "request": token_of(page),
        "access": "write",
        "folders": "",
        "days": "90",
        "passphrase": passphrase,
        "decision": "allow",
        **more,
    }
