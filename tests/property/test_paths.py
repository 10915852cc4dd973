"""Whatever a client sends: a path stays inside, says what was sent, and never asks the disk for anything hidden."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import AppError, PathRefused
from service.guards import paths
from service.store.files import VaultFiles
from service.store.root import Root

PIECES = st.one_of(
    st.sampled_from(["..", ".", "/", "\\", "~", " ", "a", ":", "C:", ".md", "secret", ".git", "git~1", ".obsidian"]),
    st.sampled_from(
        ["%2e%2e", "%2f", "node_modules", "é", "e\u0301", "\0", "\n", "\u3000", "\u00a0", "\u200d", "\u202e"]
    ),
    st.sampled_from(["\u200b", "\ufe0f", "\udcff"]),
)
RAW = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=8).map("".join))


@given(RAW)
def test_a_path_says_exactly_what_was_sent(raw: str) -> None:
    with suppress(PathRefused):
        assert str(paths.parse(raw)) == raw
        assert paths.parse(str(paths.parse(raw))) == paths.parse(raw)


@given(RAW)
def test_a_path_never_leaves_the_root_however_its_parts_are_trimmed_or_composed(raw: str) -> None:
    with suppress(PathRefused):
        for part in paths.parse(raw).parts:
            for form in ("NFC", "NFD"):
                for name in (part, part.strip()):
                    asked = unicodedata.normalize(form, name)
                    assert asked not in ("", ".", "..")
                    assert "/" not in asked
                    assert "\0" not in asked
                    assert not asked.startswith(".")
                    assert not paths.is_hidden(asked)


@given(RAW)
def test_a_tracked_path_never_leaves_the_root(raw: str) -> None:
    with suppress(PathRefused):
        path = paths.tracked(raw)
        assert str(path) == raw
        joined = os.path.normpath(os.path.join("/vault", *path.parts))
        assert joined.startswith("/vault/")


@given(RAW)
def test_a_new_name_is_composed_and_accepted_again(raw: str) -> None:
    with suppress(PathRefused):
        path = paths.new_note(raw)
        assert paths.new_note(str(path)) == path
        assert unicodedata.is_normalized("NFC", path.name)


@given(st.lists(RAW, max_size=3))
@settings(deadline=None, max_examples=200)
def test_no_string_reads_or_writes_anything_outside_or_hidden(raws: list[str]) -> None:
    """With the walk instead of openat2, so that the kernel's own refusal does not hide a mistake of ours."""
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder, "vault")
        (vault / ".obsidian").mkdir(parents=True)
        for secret in (Path(folder, "secret.md"), vault / ".obsidian" / "secret.md", vault / ".secret.md"):
            secret.write_bytes(b"secret")
        root = Root(vault, use_openat2=False)
        files = VaultFiles(root)
        for raw in (*raws, *(f"{raw}/secret.md" for raw in raws)):
            with suppress(AppError):
                assert files.read(paths.note(raw)).data != b"secret"
            with suppress(AppError):
                files.create(paths.new_note(raw), b"new", lambda: None)
        root.close()
        assert sorted(path.name for path in Path(folder).iterdir()) == ["secret.md", "vault"]
        assert [path.name for path in (vault / ".obsidian").iterdir()] == ["secret.md"]
