"""Resources over every wire: the guide, notes, canvases and pictures, and each way of refusing one."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, BlobResourceContents, TextResourceContents

from service.guards import limits
from tests.support.service import ERAS, Service, environment
from tests.support.vaults import lay_out
from tests.wire.test_stdio import client_of

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
FILES: Mapping[str, str | bytes] = {
    "AGENTS.md": "Projects live in A.\n",
    "A/a b.md": "shown <!-- hidden -->\n",
    "A/b.canvas": json.dumps({"nodes": [{"id": "n", "type": "text", "text": "card"}]}),
    "pics/p 1.png": PNG,
    "pics/fake.png": "<html>",
    "pics/s.svg": "<svg/>",
    "d.pdf": "%PDF-1.7",
    "pics/huge.png": PNG.ljust(limits.MAX_IMAGE_BYTES + 1),
    ".obsidian/x.png": PNG,
}
REFUSED = {
    "note://pics/none.png": "NOT_FOUND",
    "note://pics/fake.png": "NOT_A_NOTE",
    "note://pics/s.svg": "NOT_A_NOTE",
    "note://d.pdf": "NOT_A_NOTE",
    "note://pics/huge.png": "TOO_LARGE",
    "note://.obsidian/x.png": "HIDDEN_PATH",
    "note://../p.png": "INVALID_PATH",
    "strongroom://secrets": "INVALID_ARGUMENT",
}


@asynccontextmanager
async def connected(folder: Path, way: str) -> AsyncIterator[Client]:
    lay_out(folder / "vault", FILES)
    if way == "stdio":
        async with client_of(environment(folder)) as client:
            yield client
        return
    with Service.start(folder) as service:
        async with service.client(service.token("t", "--read-only"), way) as client:
            yield client


@pytest.mark.parametrize("way", [*ERAS, "stdio"])
async def test_every_kind_of_resource_is_given_and_refused(tmp_path: Path, way: str) -> None:
    """contract.md, Resources; decisions.md 16. A token that may only read is enough."""
    async with connected(tmp_path, way) as client:
        listed = [one.uri for one in (await client.list_resources()).resources]
        assert listed == ["strongroom://guide", "note://A/a%20b.md", "note://AGENTS.md"]
        assert "Projects live in A." in await text(client, "strongroom://guide")
        assert await text(client, "note://A/a b.md") == "shown \n"
        assert "card n (text)\n  card\n" in await text(client, "note://A/b.canvas")
        for uri in ("note://pics/p%201.png", "note://pics/p 1.png"):
            [contents] = (await client.read_resource(uri)).contents
            assert isinstance(contents, BlobResourceContents)
            assert (base64.b64decode(contents.blob), contents.mime_type) == (PNG, "image/png")
        for uri, code in REFUSED.items():
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.error.code == INVALID_PARAMS
            assert refused.value.error.message.startswith(f"{code}: "), refused.value.error.message
            assert str(tmp_path) not in refused.value.error.message


async def text(client: Client, uri: str) -> str:
    [contents] = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    return contents.text
