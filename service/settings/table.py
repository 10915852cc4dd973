"""Every setting, in one table: name, kind, default, whether it is a secret, and one line of words.

`docs/reference/settings.md` and `container/strongroom.env.example` are made from this table, and a test compares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from service.settings import kinds

Value = str | int | float | bool | Path | ZoneInfo | tuple[str, ...] | None
"""What a setting can hold once it is read."""

PREFIX: Final = "STRONGROOM_"


@dataclass(frozen=True, slots=True)
class Setting:
    """One row. `parse` raises ValueError with the sentence to show; `field` is its name in `Settings`;
    `nothing` is how an empty value is written."""

    name: str
    field: str
    kind: str
    default: str
    doc: str
    parse: Callable[[str], Value]
    is_secret: bool = False
    nothing: str = ""


# fmt: off
TABLE: Final[Sequence[Setting]] = (
    Setting("STRONGROOM_VAULT", "vault", "path", "/vault",
            "The folder of notes.", kinds.path),
    Setting("STRONGROOM_STATE", "state", "path", "/state",
            "Where tokens, history and locks live; never inside the vault.", kinds.path),
    Setting("STRONGROOM_HOST", "host", "address", "127.0.0.1",
            "Address to listen on; the image sets 0.0.0.0.", kinds.host),
    Setting("STRONGROOM_PORT", "port", "port", "8484",
            "Port to listen on.", kinds.port),
    Setting("STRONGROOM_PUBLIC_URL", "public_url", "URL", "",
            "The address clients use when it is not this machine's own.", kinds.public_url),
    Setting("STRONGROOM_ALLOWED_HOSTS", "allowed_hosts", "list", "",
            "More names (host or host:port) by which clients may call.", kinds.hosts),
    Setting("STRONGROOM_ORIGIN_SECRET", "origin_secrets", "secret", "",
            "When set, requests without this x-origin-secret header get an empty 404; "
            "two values, separated by a comma, while changing it.", kinds.secrets, is_secret=True),
    Setting("STRONGROOM_CLIENT_IP_HEADER", "client_ip_header", "header", "",
            "Header in which your proxy or tunnel tells who is calling, such as CF-Connecting-IP; for the log and for slowing "
            "down guesses. Only one that it overwrites.", kinds.header),
    Setting("STRONGROOM_OAUTH", "has_oauth", "flag", "1",
            "Let clients sign in with OAuth and your passphrase; 0 leaves the tokens that you make by command.", kinds.flag),
    Setting("STRONGROOM_REGISTRATION", "registration", "word", "open",
            "Which new clients may introduce themselves: open (any with an allowed redirect), window (only after "
            "`strongroom auth open`), off (known clients only).", kinds.one_of("open", "window", "off")),
    Setting("STRONGROOM_REDIRECTS", "redirects", "list", "",
            "More addresses to which clients may have you sent back after signing in, exactly as they give them.",
            kinds.redirects),
    Setting("STRONGROOM_ACCESS_LIFETIME", "access_lifetime_s", "duration", "1h",
            "How long an access token of a hosted client lasts; it renews itself.", kinds.between("5m", "24h")),
    Setting("STRONGROOM_ACCESS_LIFETIME_NATIVE", "native_access_lifetime_s", "duration", "8h",
            "The same for clients on your own machine, some of which never renew.", kinds.between("5m", "24h")),
    Setting("STRONGROOM_REFRESH_IDLE", "refresh_idle_s", "duration", "60d",
            "A client that has not renewed its access for so long has to sign in again.", kinds.between("1h", "366d")),
    Setting("STRONGROOM_GRANT_LIFETIME", "grant_lifetime_s", "duration", "180d",
            "The longest that one sign-in lasts.", kinds.between("1h", "366d")),
    Setting("STRONGROOM_REFRESH_GRACE", "refresh_grace_s", "duration", "120s",
            "How long a refresh token that was just exchanged still gives the same answer, for clients that ask twice.",
            kinds.between("0", "1h")),
    Setting("STRONGROOM_REFRESH_REUSE", "refresh_reuse", "word", "revoke",
            "When an old refresh token turns up: revoke (the grant ends, it may be stolen) or reject (only say no).",
            kinds.one_of("revoke", "reject")),
    Setting("STRONGROOM_EDGE_KEY", "edge_keys", "secret", "",
            "For a split Strongroom: the key that `strongroom edge` and `strongroom serve` at home share. With it, `serve` answers "
            "nobody but that edge; two values, separated by a comma, while changing it.", kinds.secrets, is_secret=True),
    Setting("STRONGROOM_HOME_URL", "home_url", "URL", "",
            "For `strongroom edge`: where the vault's own Strongroom is reached, such as http://127.0.0.1:8485.",
            kinds.public_url),
    Setting("STRONGROOM_HOME_SECRET", "home_secret", "secret", "",
            "For `strongroom edge`: the STRONGROOM_ORIGIN_SECRET of the Strongroom at home, when it has one.", kinds.key,
            is_secret=True),
    Setting("STRONGROOM_TOOLSETS", "toolsets", "list", ",".join(kinds.DEFAULT_TOOLSETS),
            "Which groups of tools are offered; files and connector are there to be added.", kinds.toolsets),
    Setting("STRONGROOM_DISABLED_TOOLS", "disabled_tools", "list", "",
            "Single tools to leave out.", kinds.words),
    Setting("STRONGROOM_READ_ONLY", "is_read_only", "flag", "0",
            "Hide and refuse every tool that writes.", kinds.flag),
    Setting("STRONGROOM_SYMLINKS", "symlinks", "word", "none",
            "none, or inside: paths may go through symbolic links that stay inside the vault.",
            kinds.one_of("none", "inside")),
    Setting("STRONGROOM_FRESHNESS", "freshness", "word", "auto",
            "How to keep up with changes by other programs. auto: by the kernel's events where the vault's file system sends them, "
            "else by looking at every file at each question; events or walk: always the one or the other.",
            kinds.one_of("auto", "events", "walk")),
    Setting("STRONGROOM_LOW_TRUST", "low_trust", "folders", "Clippings",
            "Folders whose notes come from outside: left out of searches and lists unless asked for, labelled when read.",
            kinds.folders, nothing=kinds.OFF),
    Setting("STRONGROOM_WRITE_BUDGET", "write_budget", "count", "50",
            "Writes a token may do in the hour after it read such a note; 0 none.", kinds.count, nothing=kinds.OFF),
    Setting("STRONGROOM_ALLOW_ACTIVE", "allow_active", "folders", "",
            "Folders where assistants may write what Obsidian runs or loads (templates, scripts, remote images).",
            kinds.some_folders),
    Setting("STRONGROOM_WRITE_TYPES", "write_types", "list", "",
            "File types besides notes that assistants may write: canvas, base. Obsidian may load what they name.",
            kinds.write_types),
    Setting("STRONGROOM_COMMIT_EVERY", "commit_every_s", "duration", "30m",
            "How often whatever changed is committed; 0 never.", kinds.duration),
    Setting("STRONGROOM_COMMIT_QUIET", "commit_quiet_s", "duration", "60s",
            "Tool writes are committed after this long without one.", kinds.duration),
    Setting("STRONGROOM_COMMIT_MAX_WAIT", "commit_max_wait_s", "duration", "5m",
            "Tool writes wait for quiet no longer than this.", kinds.duration),
    Setting("STRONGROOM_COMMIT_MESSAGE", "commit_message", "text", "vault: {summary}",
            "First line of a commit; {summary}, {reason}, {time} and {host} are filled in.", kinds.message),
    Setting("STRONGROOM_AUTHOR", "author", "author", "Strongroom <strongroom@localhost>",
            "Author and committer of commits.", kinds.author),
    Setting("STRONGROOM_HISTORY_DIR", "history_dir", "folder", "",
            "Git directory: empty for the state folder's own, .git for the vault's.", kinds.history_dir),
    Setting("STRONGROOM_MAX_FILE_SIZE", "max_file_bytes", "size", "95MB",
            "Larger files get no history and are reported.", kinds.size),
    Setting("STRONGROOM_LOCALE", "locale", "language", "",
            "Language of months, days and weeks in names of daily and periodic notes, such as de or en-gb; not set, what the "
            "vault's own settings say, else en.", kinds.locale),
    Setting("STRONGROOM_LOG_LEVEL", "log_level", "word", "info",
            "debug, info, warning or error.", kinds.one_of("debug", "info", "warning", "error")),
    Setting("STRONGROOM_LOG_FORMAT", "log_format", "word", "auto",
            "json, console, or auto (console on a terminal).", kinds.one_of("auto", "json", "console")),
    Setting("TZ", "zone", "zone", "",
            "Zone of the owner's days (daily notes, times in history); not set, this machine's own, which is UTC in the image.",
            kinds.zone),
)
# fmt: on
