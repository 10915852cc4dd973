"""Which folders are of low trust."""

from __future__ import annotations

import unicodedata

import pytest

from service.guards import paths
from service.guards.trust import ALL_TRUSTED, LowTrust


@pytest.mark.parametrize(
    ("named", "path", "expected"),
    [
        ("Clippings", "Clippings", "Clippings"),
        ("Clippings", "clippings/a/b.md", "clippings"),
        ("Clippings", "CLIPPINGS.md", None),
        ("Clippings", "Clippings old/a.md", None),
        ("Clippings", "Archive/Clippings/a.md", None),
        ("Archive/Web", "archive/WEB/x/y.md", "archive/WEB"),
        ("Archive/Web", "Archive/a.md", None),
        ("Küche", unicodedata.normalize("NFD", "küche") + "/a.md", unicodedata.normalize("NFD", "küche")),
        ("STRASSE", "straße/a.md", "straße"),
    ],
)
def test_a_folder_counts_from_the_root_in_any_case_with_all_below(named: str, path: str, expected: str | None) -> None:
    """decisions.md 11: without regard to case; ours: a path from the vault's root, letters composed or not."""
    found = LowTrust.of([named]).around(paths.parse(path))
    assert (None if found is None else str(found)) == expected
    assert LowTrust.of([named]).holds(paths.parse(path)) is (expected is not None)


def test_no_folder_is_no_low_trust() -> None:
    """STRONGROOM_LOW_TRUST=off."""
    assert not ALL_TRUSTED.holds(paths.parse("Clippings/a.md"))
    assert not LowTrust.of(["Clippings"]).holds(paths.ROOT)
