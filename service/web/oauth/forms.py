"""Reading the form that a client's program sends (RFC 6749 §3.2), strictly: what can be read in two ways is refused.

Only the body counts, never the query: such places end up in logs. A field may be there once; an empty one counts as left out.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl, unquote_plus

from starlette.requests import Request

from service.auth.refusal import Refusal

MAX_FIELDS: Final = 40
_MAY_REPEAT: Final = "resource"  # RFC 8707 §2


class Form:
    """The fields of one request."""

    def __init__(self, fields: Mapping[str, str], resources: Sequence[str], client_id: str | None) -> None:
        self._fields, self.resources, self._client_id = fields, resources, client_id

    @property
    def client_id(self) -> str:
        """Who is asking.

        Raises:
            Refusal: `invalid_client`; nobody says so.
        """
        if self._client_id is None:
            raise Refusal("invalid_client", "client_id is missing.")
        return self._client_id

    def get(self, name: str) -> str | None:
        """A field, or None."""
        return self._fields.get(name)

    def need(self, name: str) -> str:
        """A field.

        Raises:
            Refusal: `invalid_request`; it is missing.
        """
        found = self._fields.get(name)
        if found is None:
            raise Refusal("invalid_request", f"{name} is missing.")
        return found


async def read(request: Request) -> Form:
    """The form in a request whose body is known to be small.

    Raises:
        Refusal: `invalid_request`, or `invalid_client` when it brings a secret that we never gave.
    """
    kinds = request.headers.getlist("content-type")
    if len(kinds) != 1 or kinds[0].partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise Refusal("invalid_request", "send the parameters as application/x-www-form-urlencoded.")
    try:
        text = (await request.body()).decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise Refusal("invalid_request", "the body is no form that can be read.") from None
    names = [name for name, _ in pairs if name != _MAY_REPEAT]
    if len(names) != len(set(names)):
        raise Refusal("invalid_request", "a parameter is there twice.")
    fields = {name: value for name, value in pairs if value}
    resources = [value for name, value in pairs if name == _MAY_REPEAT and value]
    return Form(fields, resources, _client(request, fields))


def _client(request: Request, fields: Mapping[str, str]) -> str | None:
    """Who is asking: by a field, by HTTP Basic with an empty password, or by both alike (RFC 6749 §2.3.1)."""
    headers = request.headers.getlist("authorization")
    named, secret = fields.get("client_id"), fields.get("client_secret")
    if headers:
        by_header, password = _basic(headers)
        if named not in (None, by_header):
            raise Refusal("invalid_request", "two different clients are named.")
        named, secret = by_header, password or secret
    if secret:
        raise Refusal("invalid_client", "clients have no secret here; leave it empty, or register again.")
    return named


def _basic(headers: Sequence[str]) -> tuple[str, str]:
    scheme, _, rest = headers[0].strip().partition(" ")
    try:
        if len(headers) > 1 or scheme.lower() != "basic":
            raise ValueError
        name, colon, password = b64decode(rest.strip(), validate=True).decode("utf-8").partition(":")
        if not colon or not name:
            raise ValueError
        return unquote_plus(name, errors="strict"), unquote_plus(password, errors="strict")
    except (ValueError, binascii.Error):
        raise Refusal("invalid_client", "the Authorization header names no client; send client_id instead.") from None
