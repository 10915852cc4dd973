"""What the commands work on, opened from the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ops.commands import strongroom
from ops.opened import load_settings, opened
from service.errors import BadSettings, Busy, Misconfigured, VaultMissing
from service.guards import paths


def environ(tmp_path: Path) -> dict[str, str]:
    for name in ("vault", "state"):
        (tmp_path / name).mkdir()
    return {"STRONGROOM_VAULT": str(tmp_path / "vault"), "STRONGROOM_STATE": str(tmp_path / "state"), "TZ": "UTC"}


def test_a_command_reads_the_vault_its_environment_names(tmp_path: Path) -> None:
    names = environ(tmp_path)
    (tmp_path / "vault" / "a.md").write_bytes(b"one\n")
    with opened(names) as parts:
        assert parts.files.read(paths.note("a.md")).data == b"one\n"
        assert str(parts.clock.zone) == "UTC"


def test_the_locks_of_two_commands_exclude_each_other(tmp_path: Path) -> None:
    names = environ(tmp_path)
    with opened(names) as one, opened(names) as other, one.history_lock.writing(), one.writer_lock.writing():
        with pytest.raises(Busy, match="the vault"), other.writer_lock.writing(timeout_s=0):
            pass
        with pytest.raises(Busy, match="the history"), other.history_lock.writing(timeout_s=0):
            pass


def test_a_missing_vault_is_told_only_when_the_vault_is_asked_for(tmp_path: Path) -> None:
    names = environ(tmp_path)
    (tmp_path / "vault").rmdir()
    with opened(names) as parts, pytest.raises(VaultMissing, match="mount or create it"):
        _ = parts.files


def test_bad_settings_stop_a_command_before_it_opens_anything() -> None:
    with pytest.raises(BadSettings, match="did you mean STRONGROOM_VAULT"):
        load_settings({"STRONGROOM_VALUT": "/vault"})


@pytest.mark.parametrize("words", [("history",), ("commit",), ("restore", "a.md"), ("hidden",), ("backup", "-")])
def test_at_the_edge_a_command_about_notes_says_where_to_type_it(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5, edge: it needs no vault, so to tell its owner to mount one would lead him astray."""
    edge = {"STRONGROOM_EDGE_KEY": "k" * 64, "STRONGROOM_HOME_URL": "http://127.0.0.1:8485"}
    for name, value in (environ(tmp_path) | edge).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "vault").rmdir()
    refused = CliRunner().invoke(strongroom, [*words]).exception
    assert isinstance(refused, Misconfigured)
    assert "type it at home" in str(refused)
