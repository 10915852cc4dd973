"""`strongroom settings`: what is in use, where from, and no secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ops import exits
from ops.__main__ import main
from service.settings.table import TABLE

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in TABLE:
        monkeypatch.delenv(row.name, raising=False)


def test_every_setting_is_shown_with_its_value_and_its_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "zone").write_text("Asia/Tokyo\n", encoding="utf-8")
    monkeypatch.setenv("STRONGROOM_PORT", "9000")
    monkeypatch.setenv("TZ_FILE", str(tmp_path / "zone"))
    assert main(["settings", "--json"]) == exits.OK
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == [row.name for row in TABLE]
    assert shown["STRONGROOM_PORT"] == {"value": "9000", "from": "environment"}
    assert shown["STRONGROOM_HOST"] == {"value": "127.0.0.1", "from": "default"}
    assert shown["TZ"] == {"value": "Asia/Tokyo", "from": f"file {tmp_path / 'zone'}"}


@pytest.mark.parametrize("arguments", [["settings"], ["settings", "--json"]])
def test_a_secret_is_never_shown(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRONGROOM_ORIGIN_SECRET", SECRET)
    assert main(arguments) == exits.OK
    shown = capsys.readouterr()
    assert SECRET not in shown.out + shown.err
    assert "(set)" in shown.out


def test_wrong_settings_are_told_one_a_line_with_the_code_for_a_person_must_act(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRONGROOM_PORT", "x")
    monkeypatch.setenv("STRONGROOM_READONLY", "1")
    assert main(["settings"]) == exits.MISCONFIGURED
    shown = capsys.readouterr()
    assert shown.out == ""
    first, second = shown.err.splitlines()
    assert first.startswith("strongroom: STRONGROOM_PORT: ")
    assert "did you mean STRONGROOM_READ_ONLY?" in second
