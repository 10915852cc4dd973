"""The address under which clients come from outside, and the secret that the way there can add.

Nothing is asked of the network: what can be told is told from the address itself. Whether it can be reached is known only to
who is outside.
"""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from ops.checks.finding import Finding, Patient, fail, ok, warn
from service.settings import Settings

_QUICK: Final = ".trycloudflare.com"
_FUNNEL: Final = ".ts.net"
_AT_HOME: Final = (".local", ".lan", ".home", ".internal", ".home.arpa", ".localhost", ".test", ".corp")
_NO_HEADER: Final = {
    _QUICK: "a quick tunnel of cloudflared",
    _FUNNEL: "Tailscale (serve and Funnel)",
}
"""Ways that cannot add a header of their own (auth.md 7.8)."""


def address(patient: Patient) -> Finding:
    """The public address is one that hosted clients can use (auth.md 4.4: anthropics/claude-ai-mcp#85, #214 and others)."""
    settings = patient.settings
    if settings.public_url is None:
        return ok(
            f"none is set: {settings.base_url()} for clients on this machine. For a phone or a web site, put TLS in front "
            "and set STRONGROOM_PUBLIC_URL"
        )
    parts = urlsplit(settings.public_url)
    host, port = parts.hostname or "", parts.port or {"https": 443, "http": 80}[parts.scheme]
    if _is_loopback(host):
        return ok(f"{settings.public_url}, which leads to this machine only")
    bad = fail if _is_public(host) else warn
    if parts.scheme != "https":
        return bad(
            f"STRONGROOM_PUBLIC_URL is not https ({settings.public_url})",
            "passphrase and tokens travel in the clear, and hosted clients do not come at all",
            "put TLS in front (docs/how-to/behind-a-proxy.md), and set the https address",
        )
    if port != 443:
        return bad(
            f"STRONGROOM_PUBLIC_URL names port {port}",
            "Claude and ChatGPT connect to port 443 only, so they never arrive; programs on your own machines do",
            "let your proxy or tunnel listen on 443, and leave the port out of the address",
        )
    return _hints(host, settings.public_url, has_header=bool(settings.client_ip_header))


def _hints(host: str, url: str, *, has_header: bool) -> Finding:
    if host.endswith(_QUICK):
        return warn(
            f"{url} is a quick tunnel",
            "its name changes with every start, and each client and passkey has to be added anew then; some hosted clients "
            "do not reach such names",
            "use a named tunnel on a domain of your own for more than a try",
        )
    if host.endswith(_FUNNEL):
        return warn(
            f"{url} is Tailscale's",
            "without Funnel it is reached from your own devices only; with Funnel, some hosted clients still do not reach it",
            "if a client says that it cannot connect while your phone's browser can, use a named tunnel or a server of yours",
        )
    if not _is_public(host):
        return warn(
            f"{url} is a name or address of a private network",
            "hosted clients (a web site, a phone's assistant) cannot reach it; programs in that network can",
            "nothing, if that is what you want; else a name that the internet knows",
        )
    if _parsed(host) is not None:
        return warn(
            f"{url} is a number",
            "most clients want a name with a certificate",
            "get a name for it, such as from your DNS",
        )
    counted = (
        "" if has_header else "; STRONGROOM_CLIENT_IP_HEADER is not set, so wrong guesses slow everybody down alike"
    )
    return ok(f"{url}{counted}")


def origin_secret(patient: Patient) -> Finding:
    """Whether the way from outside adds the origin secret, as far as it can."""
    settings = patient.settings
    host = urlsplit(settings.public_url or "").hostname or ""
    unable = next((way for ending, way in _NO_HEADER.items() if host.endswith(ending)), None)
    if settings.origin_secrets:
        if unable:
            return fail(
                f"set, but {unable} cannot send it",
                "every request from outside gets an empty 404",
                "unset STRONGROOM_ORIGIN_SECRET, or put a proxy of your own in between that adds the header",
            )
        what = "two values, of which one can go" if len(settings.origin_secrets) > 1 else "set"
        return ok(f"{what}; whatever comes without it gets an empty 404")
    if not is_told_to_others(settings):
        return ok("not set, and nothing comes from outside")
    if unable:
        return ok(f"not set: {unable} cannot send one")
    return warn(
        "not set, and clients come from outside",
        "whoever finds a way around your proxy to the port is answered like anybody else",
        "set STRONGROOM_ORIGIN_SECRET and let the proxy add X-Origin-Secret: nginx (proxy_set_header), Caddy (header_up) and "
        "Traefik (customRequestHeaders) can, a named tunnel of Cloudflare with a Transform Rule for request headers; "
        "cloudflared by itself, quick tunnels and Tailscale cannot",
    )


def is_told_to_others(settings: Settings) -> bool:
    """Whether there is a public address, and it leads to more than this machine: `./ops/up --port` sets one that does not."""
    return settings.public_url is not None and not _is_loopback(urlsplit(settings.public_url).hostname or "")


def _is_loopback(host: str) -> bool:
    found = _parsed(host)
    return host == "localhost" if found is None else found.is_loopback


def _is_public(host: str) -> bool:
    """Whether the internet can know this name or address."""
    found = _parsed(host)
    if found is not None:
        return found.is_global
    return "." in host.rstrip(".") and not host.rstrip(".").endswith(_AT_HOME)


def _parsed(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
