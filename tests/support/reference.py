"""The pages that are made from the code: `python -m tests.support.reference [--write]`.

Without `--write` it names the pages that are stale and ends with 1. `tests/docs/test_reference.py` does the same, so a
setting, a command or a tool cannot change without its page. A page is one function without arguments.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click

from ops import exits
from ops.commands import TABLE as COMMANDS
from ops.commands import load
from service.settings import kinds
from service.settings.table import TABLE as SETTINGS
from service.tools import catalogue, offered
from service.tools.register import Offer
from tests.support import endpoints_reference, tools_reference

ROOT: Final = Path(__file__).resolve().parents[2]
MADE: Final = "<!-- Made from the code by `python -m tests.support.reference --write`: change it there. -->"


def settings_page() -> str:
    """docs/reference/settings.md"""
    rows = [
        (
            f"`{row.name}`",
            row.kind,
            f"`{row.default}`" if row.default else "not set",
            row.doc + (" **Secret.**" if row.is_secret else ""),
        )
        for row in SETTINGS
    ]
    return _page(
        "# Settings",
        MADE,
        "Settings are environment variables.\nThere is no configuration file.\n`strongroom settings` shows those in use and "
        "where each comes from, secrets left out.",
        _table(("Name", "Kind", "Default", "What it does"), rows),
        "## Where to put them",
        _table(
            ("You run it by", "Put `NAME=value` into", "Then"),
            [
                (
                    "`./ops/up`",
                    "`~/.local/state/strongroom/NAME/settings.env`, where NAME is `strongroom` or your `--name`",
                    "`./ops/up` again",
                ),
                ("compose", "`environment:` or a file named by `env_file:`", "`docker compose up -d`"),
                (
                    "quadlet",
                    "`Environment=` or `EnvironmentFile=` of `strongroom.container`",
                    "`systemctl --user daemon-reload`, and restart",
                ),
                ("systemd", "`/etc/strongroom.env`", "`systemctl restart strongroom`"),
            ],
        ),
        "One a line, and without quotes: some programs take them as part of the value, so a value in quotes is an error.\n"
        "A line with `#` at its start is a comment; `container/strongroom.env.example` has them all.\n"
        "`./ops/up` itself says which vault, state and port it uses: leave those out there.\n"
        "Commands take the settings from where they run: `podman exec strongroom strongroom settings`.",
        "## How values are read",
        "- Any of them may come from a file: `STRONGROOM_PORT_FILE=/run/secrets/port` reads the port "
        "from there, and drops one line break at the end.\n"
        "- A name and its `_FILE` together are an error, and so is an empty file.\n"
        "- A name that is set to nothing counts as not set.\n"
        "- A `STRONGROOM_` name that is not in this table is an error that names the nearest one.\n"
        "- All problems are told at once, and nothing starts (exit code 7).",
        "## Kinds",
        "\n".join(f"- **{kind}**: {words}" for kind, words in _KINDS.items()),
    )


_KINDS: Final[Mapping[str, str]] = {
    "path": "an absolute path; `~` is the home folder.",
    "header": "the name of a request header, in any case.",
    "address": "an address of this machine, such as `127.0.0.1`, `0.0.0.0` or `::1`.",
    "port": "a number from 1 to 65535.",
    "folders": "folders of the vault, separated by commas, without regard to case: `Clippings` is the one at the root, "
    "`Archive/Web` one inside `Archive`. What lies in them counts too. `off` for none.",
    "count": "a whole number from 0 up; `off` for no limit.",
    "URL": "scheme, host and port, such as `https://notes.example.org`, without a path.",
    "list": "words separated by commas.",
    "secret": "at least 32 ASCII characters without blanks, for example from `openssl rand -hex 32`; never shown and never logged.",
    "flag": "`1`, `true`, `yes` or `on`; `0`, `false`, `no` or `off`.",
    "duration": "seconds, or a number with `s`, `m`, `h` or `d`, such as `90s`, `30m`, `2h`.",
    "text": "one line.",
    "author": "a name and an address, such as `Ada <ada@example.org>`.",
    "folder": "empty, `.git`, or an absolute path.",
    "size": "bytes, or a number with `KB`, `MB` or `GB` (powers of 1000).",
    "word": "one of the words listed.",
    "language": f"one of {', '.join(f'`{name}`' for name in kinds.LOCALES)}; also as `de-DE` or `en_GB.UTF-8`.",
    "zone": "a name from the tz database, such as `Europe/Berlin`.",
}


def env_example() -> str:
    """container/strongroom.env.example"""
    head = (
        "# Settings of Strongroom, each with its default. Take the # away from what you change.\n"
        "# For --env-file of podman and docker, env_file: of compose, EnvironmentFile= of quadlet and systemd:\n"
        "# no quotes, no blanks round =.\n"
        "# In the image STRONGROOM_VAULT, STRONGROOM_STATE and STRONGROOM_HOST are set already; mount your folders there.\n"
        "# Any of them may come from a file: STRONGROOM_ORIGIN_SECRET_FILE=/run/secrets/origin\n"
        "# Made from the code by `python -m tests.support.reference --write`: change it there."
    )
    return "\n\n".join([head, *(f"# {row.doc}\n#{row.name}={row.default}" for row in SETTINGS)]) + "\n"


def commands_page() -> str:
    """docs/reference/commands.md"""
    codes = [
        (str(row.number), row.meaning, row.way_out, f"`{row.branch.__name__}`" if row.branch else "")
        for row in exits.TABLE
    ]
    return _page(
        "# Commands and exit codes",
        MADE,
        "There is one command, `strongroom`.\nIn a container: `podman exec strongroom strongroom …`, or `docker exec`.\n"
        "Facts go to standard output, sentences about them to standard error; `--json` makes the facts JSON.\n"
        "Every command takes `--help`.",
        _table(("Command", "What it does"), [(f"[`{row.name}`](#{row.name})", row.help_line) for row in COMMANDS]),
        *_each_command(),
        "## Exit codes",
        _table(("Code", "What it says", "What to do", "Branch of errors"), codes),
    )


def tools_page() -> str:
    """docs/reference/tools.md"""
    title, *rest = tools_reference.blocks()
    return _page(title, MADE, *rest)


def endpoints_page() -> str:
    """docs/reference/endpoints.md"""
    title, *rest = endpoints_reference.blocks(_table)
    return _page(title, MADE, *rest)


def _each_command() -> Iterator[str]:
    for row in COMMANDS:
        yield f"## {row.name}"
        yield from _one_command(load(row), f"strongroom {row.name}")


def _one_command(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=None)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```\n{name} {usage}\n```"
    yield _sentences(command.help or "")
    options = [
        record
        for option in command.params
        if isinstance(option, click.Option) and (record := option.get_help_record(context))
    ]
    if options:
        yield _table(("Option", "What it does"), [(f"`{left}`", " ".join(right.split())) for left, right in options])
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None and not found.hidden:
                yield f"### {name.removeprefix('strongroom ')} {inner}"
                yield from _one_command(found, f"{name} {inner}")


def offered_file() -> str:
    """service/tools/offered.json"""
    return offered.written([Offer.of(spec) for spec in catalogue.SPECS])


def _sentences(text: str) -> str:
    """A docstring as Markdown: its paragraphs, unwrapped."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.replace("\b\n", "").split("\n\n")]
    return "\n\n".join(re.sub(r"(?<=\.) (?=[A-Z`])", "\n", paragraph) for paragraph in paragraphs if paragraph)


def _page(*blocks: str) -> str:
    return "\n\n".join(blocks) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "container/strongroom.env.example": env_example,
    "docs/reference/commands.md": commands_page,
    "docs/reference/endpoints.md": endpoints_page,
    "docs/reference/settings.md": settings_page,
    "docs/reference/tools.md": tools_page,
    "service/tools/offered.json": offered_file,
}
"""Every generated page and file, by its path in the checkout."""


def stale() -> list[str]:
    """The pages that are not what the code says."""
    return [path for path, make in PAGES.items() if _on_disk(path) != make()]


def _on_disk(path: str) -> str:
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def main(arguments: Sequence[str]) -> int:
    """Write what is stale, or only name it."""
    found = stale()
    for path in found:
        print(path)
        if "--write" in arguments:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(PAGES[path](), encoding="utf-8")
    return 0 if "--write" in arguments or not found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
