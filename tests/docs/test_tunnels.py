"""What the pages say to put into files of other programs has the form that these programs read."""

from __future__ import annotations

import io
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from service.settings.table import TABLE
from tests.support.reference import ROOT

PORT = next(row.default for row in TABLE if row.name == "STRONGROOM_PORT")
CLIENTS = (ROOT / "docs" / "how-to" / "connect-clients.md").read_text(encoding="utf-8")
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))


def blocks(text: str, language: str) -> Iterator[str]:
    """The blocks of code in this language."""
    yield from re.findall(rf"^ *```{language}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL)


def test_the_configuration_for_cloudflared_is_one_that_it_takes() -> None:
    """Decision 25: checked as far as an offline machine can. Its documentation: a last rule without a hostname catches all."""
    page = (ROOT / "docs" / "how-to" / "cloudflared.md").read_text(encoding="utf-8")
    (text,) = blocks(page, "yaml")
    config = YAML(typ="safe").load(io.StringIO(text))
    assert config.keys() == {"tunnel", "credentials-file", "ingress"}
    *rules, last = config["ingress"]
    assert [rule["service"] for rule in rules] == [f"http://127.0.0.1:{PORT}"]
    assert all(rule.keys() == {"hostname", "service"} for rule in rules)
    assert last == {"service": "http_status:404"}


@pytest.mark.parametrize("page", HOW_TO, ids=lambda page: page.name)
def test_every_piece_of_json_and_toml_can_be_read(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for block in blocks(text, "json"):
        json.loads(block)
    for block in blocks(text, "toml"):
        tomllib.loads(block)


def test_every_client_is_given_an_address_with_its_path() -> None:
    """`resource` is byte by byte what a person types (auth.md 2.7)."""
    found = re.findall(
        r'https?://[^\s"`)]+', "\n".join([*blocks(CLIENTS, "[a-z]*"), *re.findall(r"`(http[^`]+/mcp)`", CLIENTS)])
    )
    assert len(found) > 15
    ours = [url for url in found if "notes.example.org" in url or f":{PORT}" in url]
    assert {url for url in ours if not url.endswith("/mcp")} == set()
    assert {url for url in found if url not in ours} <= {"http://127.0.0.1:6276/oauth/callback"}


@pytest.mark.parametrize(
    "client", ["Claude", "Claude Code", "ChatGPT", "Codex", "Cursor", "VS Code", "Gemini CLI", "Zed", "MCP Inspector"]
)
def test_every_client_of_the_issue_has_its_part(client: str) -> None:
    """Issue 5: each client by name."""
    assert re.search(rf"^## {client}\b", CLIENTS, re.MULTILINE)
