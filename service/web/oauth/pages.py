"""The pages that the owner sees: made here on the server, escaped by default, with one stylesheet and no script.

Templates are read once, when the first page is asked for: jinja2 is not imported before, since most starts are followed by
no sign-in. Every page carries the same strict headers (auth.md 7.3), errors too. The stylesheet is in
the page and named in the policy by its hash, so nothing else can be drawn, loaded or run.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from starlette.responses import Response

from service.guards.invisible import without_suspects

if TYPE_CHECKING:
    from jinja2 import Environment

SAME_ORIGIN: Final = "same-origin"
"""The Referrer-Policy of pages with a form: with `no-referrer` browsers post `Origin: null` (auth.md 2.6)."""

NO_REFERRER: Final = "no-referrer"
"""Of the page that sends the owner on: the client's site need not learn where he came from."""

_HSTS: Final = "max-age=31536000"
_PERMISSIONS: Final = ("camera", "microphone", "geolocation", "payment", "usb", "display-capture", "browsing-topics")
_FOLDER: Final = "service.web.oauth"


class Pages:
    """The pages of one appliance.

    Args:
        base: our public address.
    """

    def __init__(self, base: str) -> None:
        self._is_https = base.startswith("https://")
        self._host = urlsplit(base).netloc

    @property
    def passkey_script(self) -> str:
        """The one script there is."""
        return self._texts["passkey.js"]

    def page(
        self,
        template: str,
        words: Mapping[str, object],
        status: int = 200,
        *,
        referrer: str = SAME_ORIGIN,
        headers: Mapping[str, str] | None = None,
        script: str = "",
    ) -> Response:
        """One page.

        Args:
            template: its name in `pages/`.
            words: what it shows; whatever it is, it stays text.
            headers: more of them.
            script: the one script of the page, which the template puts where `script` is (passkeys, decisions.md 19).
        """
        from markupsafe import Markup

        text = self._templates.get_template(template).render(
            words,
            script=Markup(script),  # noqa: S704  # our own file
        )
        return Response(
            text, status, {**self._headers(referrer, script), **(headers or {})}, "text/html; charset=utf-8"
        )

    def message(
        self,
        title: str,
        sentences: Sequence[str],
        status: int,
        *,
        eyebrow: str = "Sign-in",
        commands: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """A page that only says something: plain text, and what to type where that helps."""
        words = {"title": title, "sentences": sentences, "eyebrow": eyebrow, "commands": commands}
        return self.page("message.html", words, status, headers=headers)

    def redirect(self, location: str) -> Response:
        """Send the browser back to a client with an error, before there was any form. 302: never one that posts again."""
        return Response(status_code=302, headers={**self._headers(NO_REFERRER, ""), "location": location})

    @functools.cached_property
    def _texts(self) -> Mapping[str, str]:
        folder = resources.files(_FOLDER).joinpath("pages")
        return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}

    @functools.cached_property
    def _style_hash(self) -> str:
        return _hashed(self._texts["style.css"])

    @functools.cached_property
    def _templates(self) -> Environment:
        from jinja2 import DictLoader, Environment, StrictUndefined
        from markupsafe import Markup

        templates = Environment(
            loader=DictLoader({name: text for name, text in self._texts.items() if name.endswith(".html")}),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            auto_reload=False,
        )
        style = Markup(self._texts["style.css"])  # noqa: S704  # our own file
        templates.globals.update(style=style, host=self._host)
        return templates

    def _headers(self, referrer: str, script: str) -> dict[str, str]:
        policy = ["default-src 'none'", f"style-src '{self._style_hash}'"]
        policy += [f"script-src '{_hashed(script)}'"] if script else []
        policy += ["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"]
        found = {
            "content-security-policy": "; ".join(policy),
            "x-frame-options": "DENY",
            "x-content-type-options": "nosniff",
            "cross-origin-resource-policy": "same-origin",
            "referrer-policy": referrer,
            "cache-control": "no-store",
            "x-robots-tag": "noindex",
            "permissions-policy": ", ".join(f"{one}=()" for one in _PERMISSIONS),
        }
        return {**found, "strict-transport-security": _HSTS} if self._is_https else found


def shown(claimed: str) -> str:
    """A name that somebody gave himself, without what could turn the words around it (bidi, invisible, control)."""
    return " ".join(without_suspects(claimed).split()) or "A program without a name"


def _hashed(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
