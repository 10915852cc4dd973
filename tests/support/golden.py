"""The golden session: what an assistant asked in a row of a real vault, and what it was answered.

`python -m tests.support.golden --write` takes the answers down anew, into `tests/vectors/golden/answers.txt`; read the diff, and
give each changed one its line in `review.tsv`. The vault is a copy of the small public one in the shared folder.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.client import Client

from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ROOT, Service, text_of
from tests.support.vaults import lay_out

FOLDER: Final = ROOT / "tests" / "vectors" / "golden"
ARCHIVE: Final = ROOT.parent / "shared" / "vaults" / "kepano.tar.xz"
ADDED: Final = {".obsidian/daily-notes.json": '{"folder": "Daily", "template": "Templates/Daily Note Template"}'}
"""The settings of that vault's daily notes, which its public copy lacks."""

_MASKS: Final = (
    (re.compile(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[+\-\dZ:]*"), "<time>"),
    (re.compile(r"- \d\d:\d\d "), "- <hh:mm> "),
    (re.compile(r'("revision":")[0-9a-f]+'), r"\1<revision>"),
)
_VERSION: Final = re.compile(r"\$version:(.+)")


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `why` is what the person wanted; `touches` are the files that are other than before, at the end of the
    session, because of it."""

    number: int
    why: str
    tool: str
    arguments: Mapping[str, Any]
    touches: Sequence[str]
    is_timed: bool = False
    """Its answer holds the version of a text with the time of day in it."""


def requests() -> Iterator[Request]:
    """The session, in order."""
    for number, row in enumerate(json.loads((FOLDER / "requests.json").read_text(encoding="utf-8")), start=1):
        yield Request(
            number, row["why"], row["tool"], row["arguments"], row.get("touches", []), row.get("is_timed", False)
        )


def laid_out(folder: Path) -> Path:
    """A copy of the vault below `folder`, every note equally old."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    (folder / "kepano").rename(folder / "vault")
    lay_out(folder / "vault", ADDED)
    return folder / "vault"


def bytes_of(vault: Path) -> dict[str, bytes]:
    """Every file by its path."""
    return {str(path.relative_to(vault)): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


async def played(service: Service, vault: Path | None = None) -> dict[int, str]:
    """All requests in a row through the official client; each answer as it is compared.

    Args:
        vault: where the notes are, when the service is the edge of a split Strongroom.
    """
    answers = {}
    async with service.client(service.token("golden")) as client:
        for request in requests():
            answers[request.number] = await _asked(client, vault or service.vault, request)
    return answers


async def _asked(client: Client, vault: Path, request: Request) -> str:
    result = await client.call_tool(request.tool, _filled(request.arguments, vault))
    said = text_of(result)
    for pattern, instead in _MASKS:
        said = pattern.sub(instead, said)
    if request.is_timed:
        said = re.sub(r'(version(?:":"| ))[0-9a-f]{12}', r"\1<version>", said)
    return ("[error] " if result.is_error else "") + said


def _filled(arguments: Any, vault: Path) -> Any:
    """The arguments with each `$version:PATH` as the version that a client saw last, which nobody else has changed since."""
    if isinstance(arguments, dict):
        return {name: _filled(value, vault) for name, value in arguments.items()}
    named = _VERSION.fullmatch(arguments) if isinstance(arguments, str) else None
    return hashlib.sha256((vault / named[1]).read_bytes()).hexdigest()[:12] if named else arguments


def rendered(answers: Mapping[int, str]) -> str:
    """The page that is compared: each request and its answer."""
    parts = []
    for request in requests():
        asked = json.dumps(request.arguments, ensure_ascii=False)
        parts.append(f"## {request.number}. {request.why}\n{request.tool} {asked}\n\n{answers[request.number]}\n")
    return "\n".join(parts)


def main() -> None:
    """Take the answers down."""
    with tempfile.TemporaryDirectory() as folder:
        laid_out(Path(folder))
        with Service.start(Path(folder), TOOLSETS=ALL_TOOLSETS, TZ="UTC") as service:
            page = rendered(anyio.run(played, service))
    if "--write" in sys.argv:
        (FOLDER / "answers.txt").write_text(page, encoding="utf-8", newline="")
    else:
        print(page)


if __name__ == "__main__":
    main()
