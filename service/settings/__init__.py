"""The settings of one run: read from the environment by the table in `table.py`, all problems told at once.

Each may come from a file named by `<NAME>_FILE` instead (one trailing line break is dropped). A name that is set to
nothing counts as not set, as compose files need it; a file that holds nothing does not, since it would switch a secret
off without a word. An unknown `STRONGROOM_*` name is refused with the nearest known one.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from service.errors import BadSettings
from service.settings import kinds
from service.settings.table import PREFIX, TABLE, Setting, Value

_SERVICE_LINK: Final = re.compile(
    r"STRONGROOM_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
"""The names that Kubernetes gives to every pod for a service named strongroom or strongroom-something."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one run, read and checked. Durations are seconds."""

    vault: Path
    state: Path
    host: str
    port: int
    public_url: str | None
    allowed_hosts: tuple[str, ...]
    origin_secrets: tuple[str, ...]
    client_ip_header: str
    has_oauth: bool
    registration: str
    redirects: tuple[str, ...]
    access_lifetime_s: float
    native_access_lifetime_s: float
    refresh_idle_s: float
    grant_lifetime_s: float
    refresh_grace_s: float
    refresh_reuse: str
    edge_keys: tuple[str, ...]
    home_url: str | None
    home_secret: str
    toolsets: tuple[str, ...]
    disabled_tools: tuple[str, ...]
    is_read_only: bool
    symlinks: str
    freshness: str
    low_trust: tuple[str, ...]
    write_budget: int | None
    allow_active: tuple[str, ...]
    write_types: tuple[str, ...]
    commit_every_s: float
    commit_quiet_s: float
    commit_max_wait_s: float
    commit_message: str
    author: str
    history_dir: str
    max_file_bytes: int
    locale: str
    log_level: str
    log_format: str
    zone: ZoneInfo

    @property
    def is_edge(self) -> bool:
        """Whether these are the settings of a split Strongroom's public half, which has no notes."""
        return bool(self.edge_keys) and self.home_url is not None

    def base_url(self, port: int | None = None) -> str:
        """The address that clients use, without a path: the public URL, else this machine's own. Never a header's word.

        Args:
            port: what the server really listens on, where that is known (STRONGROOM_PORT may be 0).
        """
        return self.public_url or f"http://127.0.0.1:{self.port if port is None else port}"


def load(environ: Mapping[str, str]) -> Settings:
    """Read all settings from `environ`.

    Raises:
        BadSettings: naming every problem found, not just the first.
    """
    problems: list[str] = []
    values: dict[str, Value] = {}
    for row in TABLE:
        try:
            values[row.field] = row.parse(_raw_value(row, environ))
        except ValueError as problem:
            problems.append(f"{row.name}: {problem}")
    problems += [*_unknown_names(environ), *_service_links(environ), *_user_ids(environ), *_misplaced(values)]
    problems += _encoding()
    if problems:
        raise BadSettings(problems)
    return Settings(**values)  # type: ignore[arg-type]  # a test holds the table's fields against the class


def _encoding() -> list[str]:
    """Names in the vault are UTF-8; under another encoding of the locale they could be neither read nor written."""
    spoken = sys.getfilesystemencoding().lower().replace("-", "")
    if spoken == "utf8":
        return []
    return [f"the locale's encoding is {spoken}, and names of notes are UTF-8; set LC_ALL=C.UTF-8, or PYTHONUTF8=1."]


def source(row: Setting, environ: Mapping[str, str]) -> str:
    """Where a setting's value comes from: `default`, `environment`, or `file` and its path."""
    if environ.get(f"{row.name}_FILE"):
        return f"file {environ[f'{row.name}_FILE']}"
    return "environment" if environ.get(row.name) else "default"


def redacted(settings: Settings) -> dict[str, str]:
    """Each setting's name and its value as text, secrets as `(set)` or `(not set)`."""
    shown: dict[str, str] = {}
    for row in TABLE:
        value = getattr(settings, row.field)
        if row.is_secret:
            shown[row.name] = "(set)" if value else "(not set)"
        elif isinstance(value, tuple):
            shown[row.name] = ",".join(value) or row.nothing
        elif isinstance(value, bool):
            shown[row.name] = "1" if value else "0"
        elif isinstance(value, float):
            shown[row.name] = f"{value:.12g}s"
        else:
            shown[row.name] = row.nothing if value is None else str(value)
    return shown


def _raw_value(row: Setting, environ: Mapping[str, str]) -> str:
    plain, twin = environ.get(row.name), environ.get(f"{row.name}_FILE")
    if plain and twin:
        raise ValueError(f"{row.name}_FILE is set as well; keep one of them")
    if not twin:
        return _unquoted(plain) if plain else row.default
    try:
        with open(twin, encoding="utf-8", newline="") as file:
            text = file.read()
    except OSError as error:
        raise ValueError(
            f"the file {twin!r} cannot be read ({error.strerror}); check {row.name}_FILE and who may read it"
        ) from error
    except UnicodeDecodeError as error:
        raise ValueError(f"the file {twin!r} is not UTF-8 text; write it again, or check {row.name}_FILE") from error
    text = text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text
    if not text:
        raise ValueError(f"the file {twin!r} is empty; write the value into it, or unset {row.name}_FILE")
    return text


def _unquoted(raw: str) -> str:
    """`raw`, if it is not in quotes: podman and Docker take those of an env file as part of the value.

    Raises:
        ValueError: it is; believing it would, for one, protect a folder that is not there.
    """
    if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "\"'":
        raise ValueError("the quotes are part of the value here; leave them out (an env file needs none)")
    return raw


def _unknown_names(environ: Mapping[str, str]) -> list[str]:
    known = [row.name for row in TABLE]
    problems = []
    for name in sorted(environ):
        is_known = name in known or name.removesuffix("_FILE") in known
        if is_known or not name.startswith(PREFIX) or _is_service_link(name, environ[name]):
            continue
        word = name.removeprefix(PREFIX).removesuffix("_FILE")
        near = difflib.get_close_matches(word, [one.removeprefix(PREFIX) for one in known], n=1, cutoff=0.5)
        hint = f"did you mean {PREFIX}{near[0]}?" if near else "docs/reference/settings.md lists the names there are"
        problems.append(f"{name} is not a setting: {hint}")
    return problems


def _service_links(environ: Mapping[str, str]) -> list[str]:
    names = [name for name in sorted(environ) if _is_service_link(name, environ[name])]
    if not names:
        return []
    return [
        f"{', '.join(names)}: Kubernetes put this here for a service named strongroom; "
        "set enableServiceLinks: false on the pod, or name the service otherwise"
    ]


def _is_service_link(name: str, value: str) -> bool:
    is_port = name.startswith(PREFIX) and name.endswith("PORT") and kinds.is_service_link(value)
    return is_port or _SERVICE_LINK.fullmatch(name) is not None


def _user_ids(environ: Mapping[str, str]) -> list[str]:
    return [
        f"{name} is not honoured: run the container as the owner of the notes instead (--user UID:GID, or user: in compose)"
        for name in ("PUID", "PGID")
        if name in environ
    ]


def _misplaced(values: Mapping[str, Value]) -> list[str]:
    """Folders that lie in one another, symbolic links resolved."""
    vault, state, history = values.get("vault"), values.get("state"), values.get("history_dir")
    if not isinstance(vault, Path):
        return []
    vault = vault.resolve()
    problems = []
    if isinstance(state, Path):
        state = state.resolve()
        if state.is_relative_to(vault):
            problems.append(
                "STRONGROOM_STATE lies inside STRONGROOM_VAULT: a vault is synced and shared, state must not be"
            )
        elif vault.is_relative_to(state):
            problems.append("STRONGROOM_VAULT lies inside STRONGROOM_STATE: keep the notes in a folder of their own")
    if isinstance(history, str) and history not in ("", ".git"):
        git_dir = Path(history).resolve()
        if git_dir.is_relative_to(vault) and git_dir != vault / ".git":
            problems.append(
                "STRONGROOM_HISTORY_DIR lies inside STRONGROOM_VAULT: only .git may; leave it empty, or name a folder outside"
            )
    return problems
