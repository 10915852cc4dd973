"""The pages without a form: what went wrong, and what to do now."""

from __future__ import annotations

from starlette.responses import Response

from service.auth.asked import ShownError
from service.web.oauth.pages import Pages

_ANEW = "Go back to the program that you want to connect, and begin again there."


def shown_error(pages: Pages, error: ShownError) -> Response:
    """A request that nobody can be sent back for."""
    return pages.message(error.title, (error.why,), error.status, eyebrow="This cannot be allowed")


def gone(pages: Pages) -> Response:
    """A sign-in that is unknown, too old, another browser's, or that was pushed out: which, is not said."""
    return pages.message(
        "This page is too old",
        ("A sign-in waits for ten minutes, in the browser that began it. Nothing was allowed.", _ANEW),
        410,
        eyebrow="Expired",
    )


def used(pages: Pages) -> Response:
    """The back button, or a form that was sent twice."""
    return pages.message(
        "This page was used already",
        ("It had its answer, and each page is good for one. You can close it.", f"To change your mind: {_ANEW}"),
        410,
        eyebrow="Used",
    )


def taken_back(pages: Pages) -> Response:
    """The client was switched off while its page was open, or what was chosen is nothing."""
    return pages.message(
        "This was not allowed",
        ("The program was taken back while this page was open. Remove the connector in it, and add it again.",),
        409,
        eyebrow="Taken back",
    )


def foreign(pages: Pages) -> Response:
    """A form that was not sent by our own page (attacks 20 and 21)."""
    return pages.message(
        "That did not come from this page",
        ("Another site, or an extension of your browser, sent this form. Nothing was allowed.", _ANEW),
        403,
        eyebrow="Refused",
    )


def unreadable(pages: Pages) -> Response:
    """A form that our page cannot have sent."""
    return pages.message("That form cannot be read", ("Nothing was allowed.", _ANEW), 400, eyebrow="Refused")


def wrong_method(pages: Pages, allowed: str) -> Response:
    """Attack 25."""
    return pages.message(
        "Nothing to see here",
        ("This address only takes answers from the page before it.", _ANEW),
        405,
        headers={"allow": allowed},
    )


def no_way_in(pages: Pages) -> Response:
    """Neither passphrase nor passkey (decisions.md 8, complaint 46)."""
    return pages.message(
        "There is no passphrase yet",
        (
            "Until there is one, nobody can be let in here. Where Strongroom runs, type the line below; then begin again.",
        ),
        503,
        eyebrow="Not set up",
        commands=("strongroom auth passphrase",),
    )


def closed(pages: Pages) -> Response:
    """The state cannot be read or written: nobody is let in."""
    return pages.message(
        "Strongroom cannot look anything up right now",
        ("Its own records cannot be read, so nobody is let in. Where it runs, type the line below to see why.",),
        503,
        eyebrow="Closed",
        commands=("strongroom doctor",),
        headers={"retry-after": "5"},
    )


def no_passkey(pages: Pages) -> Response:
    """There is none that this browser could offer: it was removed, or made for another address."""
    return pages.message(
        "There is no passkey for this address",
        ("Go back to the page before this one and use the passphrase, or allow it from the machine.",),
        409,
        eyebrow="No passkey",
    )


def no_passkeys_here(pages: Pages, why: str) -> Response:
    """No browser makes passkeys for our address (`ceremonies.Site.hindrance`)."""
    return pages.message("Passkeys cannot work here", (f"{why[0].upper()}{why[1:]}",), 409, eyebrow="Add a passkey")


def passkey_not_added(pages: Pages) -> Response:
    """Whatever was wrong with it; the audit log says more."""
    return pages.message(
        "The passkey was not added",
        (
            "What your device answered was not accepted, or it took longer than five minutes. If your device shows a new "
            "passkey for this address, delete it there. Where Strongroom runs, type the line below for another code.",
        ),
        403,
        eyebrow="Not added",
        commands=("strongroom auth passkey add --name phone",),
    )


def passkey_added(pages: Pages, name: str) -> Response:
    """It can be used from now on."""
    return pages.message(
        "The passkey is added",
        (
            f"From now on “{name}” signs you in here: press “Use a passkey” when a client asks for access.",
            "To be asked for passkeys alone, switch the passphrase off where Strongroom runs.",
        ),
        200,
        eyebrow="Done",
        commands=("strongroom auth passphrase --off",),
    )
