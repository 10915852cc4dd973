"""The settings: one table, read from the environment, all problems at once."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service import settings
from service.errors import BadSettings
from service.settings import Settings, kinds
from service.settings.table import TABLE, Setting

SECRET = "0123456789abcdef0123456789abcdef"


def problems(environ: Mapping[str, str]) -> list[str]:
    with pytest.raises(BadSettings) as caught:
        settings.load(environ)
    return list(caught.value.problems)


def read(name: str, raw: str) -> object:
    row = next(row for row in TABLE if row.name == name)
    return getattr(settings.load({name: raw}), row.field)


# -- the table --------------------------------------------------------------------------------------------------------


def test_the_table_and_the_class_have_the_same_fields() -> None:
    """`load` relies on it."""
    assert [row.field for row in TABLE] == [field.name for field in fields(Settings)]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_each_setting_reads_its_own_default_and_says_what_it_is_in_one_line(row: Setting) -> None:
    row.parse(row.default)
    assert row.doc.endswith(".")
    assert "\n" not in row.doc
    assert row.name == "TZ" or row.name.startswith("STRONGROOM_")


def test_an_empty_environment_is_enough() -> None:
    found = settings.load({"PATH": "/usr/bin", "HOME": "/"})
    assert (found.vault, found.state) == (Path("/vault"), Path("/state"))
    assert (found.host, found.port, found.commit_every_s, found.is_read_only) == ("127.0.0.1", 8484, 1800.0, False)
    assert found.max_file_bytes == 95_000_000


def test_a_name_set_to_nothing_counts_as_not_set() -> None:
    """Compose's `NAME: ${NAME:-}` sets it so."""
    assert settings.load({row.name: "" for row in TABLE}) == settings.load({})


# -- each kind --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("STRONGROOM_VAULT", "/srv/notes", Path("/srv/notes")),
        ("STRONGROOM_HOST", "0.0.0.0", "0.0.0.0"),
        ("STRONGROOM_HOST", "::1", "::1"),
        ("STRONGROOM_PORT", "0", 0),
        ("STRONGROOM_PORT", "65535", 65535),
        ("STRONGROOM_PUBLIC_URL", "https://Notes.Example.org/", "https://notes.example.org"),
        ("STRONGROOM_PUBLIC_URL", "http://10.0.0.2:8484", "http://10.0.0.2:8484"),
        ("STRONGROOM_ALLOWED_HOSTS", " a:1, b ,,", ("a:1", "b")),
        ("STRONGROOM_TOOLSETS", "history,notes", ("history", "notes")),
        ("STRONGROOM_DISABLED_TOOLS", "delete_note", ("delete_note",)),
        ("STRONGROOM_ORIGIN_SECRET", f"{SECRET},{SECRET[::-1]}", (SECRET, SECRET[::-1])),
        ("STRONGROOM_READ_ONLY", "Yes", True),
        ("STRONGROOM_READ_ONLY", "off", False),
        ("STRONGROOM_COMMIT_EVERY", "90", 90.0),
        ("STRONGROOM_COMMIT_EVERY", "90s", 90.0),
        ("STRONGROOM_COMMIT_EVERY", "1.5m", 90.0),
        ("STRONGROOM_COMMIT_EVERY", "2h", 7200.0),
        ("STRONGROOM_COMMIT_EVERY", "1d", 86400.0),
        ("STRONGROOM_COMMIT_EVERY", "0", 0.0),
        ("STRONGROOM_MAX_FILE_SIZE", "1000", 1000),
        ("STRONGROOM_MAX_FILE_SIZE", "2 mb", 2_000_000),
        ("STRONGROOM_MAX_FILE_SIZE", "1G", 1_000_000_000),
        ("STRONGROOM_AUTHOR", "Ada <ada@example.org>", "Ada <ada@example.org>"),
        ("STRONGROOM_AUTHOR", "Ada <>", "Ada <>"),
        ("STRONGROOM_COMMIT_MESSAGE", "{host}: {summary} ({reason}) {time}", "{host}: {summary} ({reason}) {time}"),
        ("STRONGROOM_HISTORY_DIR", ".git", ".git"),
        ("STRONGROOM_HISTORY_DIR", "/srv/history.git", "/srv/history.git"),
        ("STRONGROOM_LOG_LEVEL", "DEBUG", "debug"),
        ("STRONGROOM_LOW_TRUST", "Clippings, Archive/Web/ ,", ("Clippings", "Archive/Web")),
        ("STRONGROOM_LOW_TRUST", "Off", ()),
        ("STRONGROOM_LOW_TRUST", "off/", ("off",)),
        ("STRONGROOM_WRITE_BUDGET", "0", 0),
        ("STRONGROOM_WRITE_BUDGET", " 7 ", 7),
        ("STRONGROOM_WRITE_BUDGET", "off", None),
        ("STRONGROOM_LOG_FORMAT", "json", "json"),
        ("STRONGROOM_WRITE_TYPES", "Canvas, .base", (".canvas", ".base")),
        ("STRONGROOM_WRITE_TYPES", "", ()),
        ("STRONGROOM_LOCALE", "en_GB.UTF-8", "en-gb"),
        ("STRONGROOM_LOCALE", "de-DE", "de"),
        ("STRONGROOM_LOCALE", "", ""),
    ],
)
def test_a_value_is_read_as_its_kind(name: str, raw: str, value: object) -> None:
    assert read(name, raw) == value


def test_another_encoding_than_that_of_names_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our decision: under a Latin-1 locale a write to `Café.md` would fail, and reading would find other names."""
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "iso8859-1")
    with pytest.raises(BadSettings, match=r"set LC_ALL=C\.UTF-8"):
        settings.load({})


@pytest.mark.parametrize("raw", ["Asia/Tokyo", ":Asia/Tokyo"])
def test_the_zone_is_that_of_the_tz_database(raw: str) -> None:
    """POSIX allows the colon."""
    assert settings.load({"TZ": raw}).zone.key == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("name", "raw", "way_out"),
    [
        ("STRONGROOM_VAULT", "notes", "begin with /"),
        ("STRONGROOM_HOST", "127.0.0.1/8", "such as 127.0.0.1"),
        ("STRONGROOM_PORT", "65536", "1 to 65535"),
        ("STRONGROOM_PORT", "-1", "1 to 65535"),
        ("STRONGROOM_PORT", "²", "1 to 65535"),
        ("STRONGROOM_PUBLIC_URL", "notes.example.org", "https://notes.example.org"),
        ("STRONGROOM_PUBLIC_URL", "https://notes.example.org/mcp", "without a path"),
        ("STRONGROOM_TOOLSETS", "note", "did you mean notes?"),
        ("STRONGROOM_TOOLSETS", "notes,conector", "did you mean connector?"),
        ("STRONGROOM_TOOLSETS", "file", "did you mean files?"),
        ("STRONGROOM_TOOLSETS", "link", "did you mean links?"),
        ("STRONGROOM_TOOLSETS", "taks", "did you mean tasks?"),
        ("STRONGROOM_WRITE_TYPES", "md", "one or both of: canvas, base"),
        ("STRONGROOM_PUBLIC_URL", "https://notes.example.org:99999", "https://notes.example.org"),
        ("STRONGROOM_PUBLIC_URL", "https://notes.example.org:x", "https://notes.example.org"),
        ("STRONGROOM_ALLOWED_HOSTS", "https://nas.local", "such as nas.local:8484"),
        ("STRONGROOM_ALLOWED_HOSTS", "nas.local/mcp", "such as nas.local:8484"),
        ("STRONGROOM_ALLOWED_HOSTS", "nas.local:0", "such as nas.local:8484"),
        ("STRONGROOM_TOOLSETS", " , ", "one or more of: notes"),
        ("STRONGROOM_COMMIT_EVERY", "99999999999d", "0 switches it off"),
        ("STRONGROOM_ORIGIN_SECRET", " , ", "unset it"),
        ("STRONGROOM_ORIGIN_SECRET", "  ", "unset it"),
        ("STRONGROOM_ORIGIN_SECRET", "short", "at least 32"),
        ("STRONGROOM_ORIGIN_SECRET", ",".join([SECRET] * 3), "one secret, or two"),
        ("STRONGROOM_ORIGIN_SECRET", "é" * 32, "ASCII"),
        ("STRONGROOM_ORIGIN_SECRET", "two\nlines" * 8, "without blanks"),
        ("STRONGROOM_READ_ONLY", "maybe", "1 or 0"),
        ("STRONGROOM_COMMIT_EVERY", "half an hour", "30m"),
        ("STRONGROOM_COMMIT_EVERY", "-5", "30m"),
        ("STRONGROOM_MAX_FILE_SIZE", "95 MiB", "95MB"),
        ("STRONGROOM_AUTHOR", "ada@example.org", "Ada <ada@example.org>"),
        ("STRONGROOM_COMMIT_MESSAGE", "{secret}", "only {summary}"),
        ("STRONGROOM_COMMIT_MESSAGE", "two\nlines", "one line"),
        ("STRONGROOM_HISTORY_DIR", "history.git", "absolute path"),
        ("STRONGROOM_LOW_TRUST", " , ", "off for none"),
        ("STRONGROOM_LOW_TRUST", "/vault/Clippings", "such as Clippings"),
        ("STRONGROOM_LOW_TRUST", "../Clippings", "such as Clippings"),
        ("STRONGROOM_WRITE_BUDGET", "-1", "off for no limit"),
        ("STRONGROOM_WRITE_BUDGET", "many", "off for no limit"),
        ("STRONGROOM_LOG_LEVEL", "loud", "debug, info, warning, error"),
        ("STRONGROOM_LOCALE", "dee-XX", "did you mean de?"),
        ("TZ", "Mars/Olympus", "Europe/Berlin"),
        ("TZ", "CET-1CEST", "Europe/Berlin"),
        ("TZ", "../../etc/passwd", "Europe/Berlin"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_with_what_to_give_instead(name: str, raw: str, way_out: str) -> None:
    found = problems({name: raw})
    assert len(found) == 1
    assert found[0].startswith(f"{name}: ")
    assert way_out in found[0]


@given(st.sampled_from(TABLE), st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40))
def test_any_text_at_all_is_read_or_refused_as_one_problem_of_that_setting(row: Setting, raw: str) -> None:
    try:
        settings.load({row.name: raw})
    except BadSettings as refusal:
        assert len(refusal.problems) == 1  # noqa: PT017  # either outcome is right
        assert row.name in refusal.problems[0]  # noqa: PT017


@pytest.mark.parametrize(
    ("target", "zone"),
    [
        ("/usr/share/zoneinfo/Europe/Helsinki", "Europe/Helsinki"),
        ("/usr/share/zoneinfo/posix/Asia/Tokyo", "Asia/Tokyo"),
        ("/usr/share/zoneinfo/Mars/Olympus", "UTC"),
        ("/somewhere/else", "UTC"),
        (None, "UTC"),
    ],
)
def test_without_tz_the_zone_is_the_machines_own(target: str | None, zone: str, tmp_path: Path) -> None:
    """complaints.md 43: a service on a laptop must not give yesterday's daily note."""
    if target is not None:
        (tmp_path / "localtime").symlink_to(target)
    assert kinds.machine_zone(tmp_path / "localtime").key == zone


def test_a_machine_without_time_zones_is_told_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """complaints.md 43: missing tzdata in a slim image fails loudly."""

    def missing(name: str) -> ZoneInfo:
        raise ZoneInfoNotFoundError(name)

    monkeypatch.setattr(kinds, "ZoneInfo", missing)
    (found,) = problems({})
    assert found.startswith("TZ: ")
    assert "install tzdata" in found


# -- all problems at once, and names ----------------------------------------------------------------------------------


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        {
            "STRONGROOM_PORT": "x",
            "STRONGROOM_AUTHOR": "x",
            "STRONGROOM_VAULT": "/notes",
            "STRONGROOM_STATE": "/notes/state",
            "STRONGROOM_COMIT_EVERY": "30m",
            "PUID": "1000",
        }
    )
    assert len(found) == 5


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("STRONGROOM_VALUT", "STRONGROOM_VAULT"),
        ("STRONGROOM_COMMIT_INTERVAL", "STRONGROOM_COMMIT_"),
        ("STRONGROOM_ORIGIN_SECRETS_FILE", "STRONGROOM_ORIGIN_SECRET?"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(name: str, nearest: str) -> None:
    (found,) = problems({name: "x"})
    assert found.startswith(f"{name} is not a setting: did you mean {nearest}")


def test_an_unknown_name_like_no_other_points_to_the_list() -> None:
    (found,) = problems({"STRONGROOM_QQQQQ": "x"})
    assert "docs/reference/settings.md" in found


@pytest.mark.parametrize(("name", "word"), [("STRONGROOM_TOOLSETS", "mcpvault"), ("STRONGROOM_LOCALE", "xx")])
def test_a_word_like_no_other_is_refused_with_the_list_and_no_guess(name: str, word: str) -> None:
    """Seen by a new user: `mcpvault` was answered with "did you mean daily?", and `xx` with "did you mean zh-tw?"."""
    (found,) = problems({name: word})
    assert ". There are: " in found
    assert "did you mean" not in found


def test_the_value_of_a_misspelt_secret_is_not_repeated() -> None:
    assert SECRET not in str(problems({"STRONGROOM_ORIGIN_SECERT": SECRET}))
    assert "hunter2" not in str(problems({"STRONGROOM_ORIGIN_SECRET": "hunter2"}))
    assert "hunter2" not in str(problems({"STRONGROOM_PUBLIC_URL": "https://me:hunter2@notes.example.org"}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STRONGROOM_LOW_TRUST", '"Clippings,Mail/Imported"'),
        ("STRONGROOM_ALLOW_ACTIVE", "'Templates'"),
        ("TZ", '"UTC"'),
    ],
)
def test_a_value_in_quotes_is_refused_with_a_way_out(name: str, value: str) -> None:
    """`podman run --env-file` and Docker's keep the quotes: a folder of that name is not in the vault, and nobody notices."""
    assert problems({name: value}) == [
        f"{name}: the quotes are part of the value here; leave them out (an env file needs none)"
    ]


def test_quotes_within_a_value_are_its_own() -> None:
    assert settings.load({"STRONGROOM_LOW_TRUST": "Web \"clips\" of 'me'"}).low_trust == ("Web \"clips\" of 'me'",)


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_value_may_come_from_a_file_and_one_line_break_is_dropped(ending: str, tmp_path: Path) -> None:
    """Complaint of every container: `echo secret > file` adds a line break."""
    (tmp_path / "secret").write_bytes((SECRET + ending).encode())
    assert settings.load({"STRONGROOM_ORIGIN_SECRET_FILE": str(tmp_path / "secret")}).origin_secrets == (SECRET,)


def test_only_one_line_break_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "message").write_bytes(b"vault: {summary}\n\n")
    (found,) = problems({"STRONGROOM_COMMIT_MESSAGE_FILE": str(tmp_path / "message")})
    assert "one line" in found


def test_a_value_and_its_file_together_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
    both = {"STRONGROOM_ORIGIN_SECRET": SECRET, "STRONGROOM_ORIGIN_SECRET_FILE": str(tmp_path / "secret")}
    (found,) = problems(both)
    assert found == "STRONGROOM_ORIGIN_SECRET: STRONGROOM_ORIGIN_SECRET_FILE is set as well; keep one of them"


@pytest.mark.parametrize(("content", "why"), [(b"", "is empty"), (b"\n", "is empty"), (b"\xff\xfe", "not UTF-8")])
def test_a_secrets_file_that_says_nothing_does_not_switch_the_secret_off(
    content: bytes, why: str, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_bytes(content)
    (found,) = problems({"STRONGROOM_ORIGIN_SECRET_FILE": str(tmp_path / "secret")})
    assert why in found
    assert "STRONGROOM_ORIGIN_SECRET_FILE" in found


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    (found,) = problems({"STRONGROOM_PORT_FILE": str(tmp_path / "gone")})
    assert "gone" in found
    assert "No such file" in found


# -- what hosts put into the environment ------------------------------------------------------------------------------


def test_what_kubernetes_injects_for_a_service_named_strongroom_is_told_as_one_problem() -> None:
    """Decision 11. Source: Kubernetes documentation, Service, environment variables."""
    (found,) = problems(
        {
            "STRONGROOM_SERVICE_HOST": "10.0.0.11",
            "STRONGROOM_SERVICE_PORT": "8484",
            "STRONGROOM_SERVICE_PORT_HTTP": "8484",
            "STRONGROOM_PORT": "tcp://10.0.0.11:8484",
            "STRONGROOM_PORT_8484_TCP": "tcp://10.0.0.11:8484",
            "STRONGROOM_PORT_8484_TCP_PROTO": "tcp",
            "STRONGROOM_PORT_8484_TCP_PORT": "8484",
            "STRONGROOM_PORT_8484_TCP_ADDR": "10.0.0.11",
            "STRONGROOM_EDGE_PORT": "tcp://10.0.0.12:443",
        }
    )
    assert "enableServiceLinks: false" in found
    assert "STRONGROOM_PORT," in found
    assert "did you mean" not in found


@pytest.mark.parametrize("name", ["PUID", "PGID"])
def test_puid_and_pgid_are_refused_with_what_to_use_instead(name: str) -> None:
    """Decision 12."""
    (found,) = problems({name: "1000"})
    assert "--user UID:GID" in found


# -- folders in one another -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["/notes", "/notes/.state", "/notes/a/../b"])
def test_state_inside_the_vault_is_refused(state: str) -> None:
    (found,) = problems({"STRONGROOM_VAULT": "/notes", "STRONGROOM_STATE": state})
    assert "STRONGROOM_STATE lies inside STRONGROOM_VAULT" in found


def test_state_inside_the_vault_is_seen_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    (found,) = problems({"STRONGROOM_VAULT": str(tmp_path / "notes"), "STRONGROOM_STATE": str(tmp_path / "link" / "s")})
    assert "STRONGROOM_STATE lies inside" in found


def test_a_vault_inside_the_state_is_refused() -> None:
    (found,) = problems({"STRONGROOM_VAULT": "/data/notes", "STRONGROOM_STATE": "/data"})
    assert "STRONGROOM_VAULT lies inside STRONGROOM_STATE" in found


def test_a_neighbour_with_the_same_beginning_is_not_inside() -> None:
    found = settings.load({"STRONGROOM_VAULT": "/notes", "STRONGROOM_STATE": "/notes-state"})
    assert found.state == Path("/notes-state")


def test_history_inside_the_vault_is_refused_unless_it_is_its_own_git_folder() -> None:
    (found,) = problems({"STRONGROOM_VAULT": "/notes", "STRONGROOM_HISTORY_DIR": "/notes/history"})
    assert "STRONGROOM_HISTORY_DIR lies inside STRONGROOM_VAULT" in found
    named = settings.load({"STRONGROOM_VAULT": "/notes", "STRONGROOM_HISTORY_DIR": "/notes/.git"})
    assert named.history_dir == "/notes/.git"


# -- what is shown ----------------------------------------------------------------------------------------------------


def test_shown_settings_hold_no_secret_and_are_read_back_to_the_same_settings() -> None:
    given_ = {
        "STRONGROOM_ORIGIN_SECRET": SECRET,
        "STRONGROOM_EDGE_KEY": SECRET,
        "STRONGROOM_HOME_SECRET": SECRET,
        "STRONGROOM_COMMIT_EVERY": "45m",
        "STRONGROOM_READ_ONLY": "yes",
        "STRONGROOM_TOOLSETS": "notes,daily",
        "STRONGROOM_MAX_FILE_SIZE": "12MB",
        "TZ": "Europe/Helsinki",
    }
    found = settings.load(given_)
    shown = settings.redacted(found)
    assert SECRET not in str(shown)
    secrets = {name: SECRET for name, value in shown.items() if value == "(set)"}
    assert set(secrets) == {"STRONGROOM_ORIGIN_SECRET", "STRONGROOM_EDGE_KEY", "STRONGROOM_HOME_SECRET"}
    assert settings.load(shown | secrets) == found
    assert settings.redacted(settings.load({}))["STRONGROOM_ORIGIN_SECRET"] == "(not set)"


def test_what_is_switched_off_is_shown_as_it_is_written() -> None:
    """An empty value would mean the default."""
    off = {"STRONGROOM_LOW_TRUST": "off", "STRONGROOM_WRITE_BUDGET": "off"}
    assert off.items() <= settings.redacted(settings.load(off)).items()


def test_where_a_value_comes_from_is_known(tmp_path: Path) -> None:
    row = next(row for row in TABLE if row.name == "STRONGROOM_PORT")
    assert settings.source(row, {}) == "default"
    assert settings.source(row, {"STRONGROOM_PORT": ""}) == "default"
    assert settings.source(row, {"STRONGROOM_PORT": "1"}) == "environment"
    assert settings.source(row, {"STRONGROOM_PORT_FILE": "/run/port"}) == "file /run/port"
