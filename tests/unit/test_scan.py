"""The search for secrets finds them: a scan that looks in the wrong place passes every time."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support import scan

SECRET = "correct horse+battery/staple \u00e9"


@pytest.mark.parametrize(
    "written",
    [
        SECRET.encode(),
        SECRET.encode().hex().encode(),
        quote(SECRET).encode(),
        base64.b64encode(SECRET.encode()),
        base64.b64encode(b"a" + SECRET.encode() + b"tail"),
        base64.urlsafe_b64encode(b"ab" + SECRET.encode() + b"t"),
        SECRET.encode("utf-16-le"),
    ],
)
def test_a_secret_is_found_in_each_spelling(written: bytes) -> None:
    """attack 84: what a scan must see."""
    assert scan.leaks({"it": SECRET}, [("a place", b"before " + written + b" after")]) == [("it", "a place")]


def test_it_is_found_in_a_git_object_that_nothing_refers_to(tmp_path: Path) -> None:
    """Inflated, since zlib hides it from a search of the files."""
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "r.git")], check=True)
    subprocess.run(
        ["git", f"--git-dir={tmp_path / 'r.git'}", "hash-object", "-w", "--stdin"],
        input=SECRET.encode() * 9,
        check=True,
        capture_output=True,
    )
    assert scan.leaks({"it": SECRET}, scan.files(tmp_path)) == []
    assert scan.leaks({"it": SECRET}, scan.git_objects(tmp_path / "r.git")) == [("it", "objects of r.git")]


def test_looking_through_nothing_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="nothing to look through"):
        scan.leaks({"it": SECRET}, scan.files(tmp_path))
