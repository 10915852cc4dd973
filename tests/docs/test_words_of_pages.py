"""What the documentation quotes of the sign-in pages stands on them."""

from __future__ import annotations

import re

import pytest

from tests.support.reference import ROOT

ROOM = ROOT / "service" / "web" / "oauth"
SAID = "\n".join(
    path.read_text(encoding="utf-8") for path in [*sorted(ROOM.glob("*.py")), *sorted((ROOM / "pages").glob("*.html"))]
)
QUOTED = {
    "docs/tutorial/from-nothing-to-your-phone.md": (
        "wants to use your notes",
        "Verified: it is",
        "Unverified name",
        "Your answer goes to",
        "What may it do?",
        "Which folders may it see?",
        "For how long?",
        "Read only",
        "Read and write",
        "Allow",
        "Deny",
    ),
    "docs/how-to/sign-in-refused.md": (
        "Allow it from the machine instead",
        "Wait for it here",
        "This page is too old",
        "This page was used already",
        "That did not come from this page",
        "There is no passphrase yet",
        "Strongroom cannot look anything up right now",
        "This cannot be allowed",
        "Too many wrong passphrases. Wait",
        "Go on",
    ),
    "docs/how-to/passkeys.md": ("Use a passkey", "instead"),
}


@pytest.mark.parametrize(("page", "words"), [(page, words) for page, quoted in QUOTED.items() for words in quoted])
def test_what_a_page_quotes_is_what_people_see(page: str, words: str) -> None:
    """Issue 5: each has a how-to page; a page that quotes old words sends people looking."""
    assert words in (ROOT / page).read_text(encoding="utf-8")
    assert re.search(re.escape(words), re.sub(r"</?bdi>", "", SAID)), f"{words!r} is on no page of ours any more"
