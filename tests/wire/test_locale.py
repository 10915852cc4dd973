"""Bytes go round over HTTP whatever the locale of the process is."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_types import TextResourceContents

from tests.support.service import ERAS, Service, text_of

pytestmark = pytest.mark.anyio

NAME = "Türkçe ığdır 系統 🖊️.md"
WORDS = "İstanbul'da ağaç — 會議 мир می‌روم 👨‍👩‍👧 naïve"


@pytest.mark.parametrize("era", ERAS)
async def test_every_letter_comes_back_as_it_went_under_a_locale_without_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, era: str
) -> None:
    """Complaint 21: mojibake and hangs on accents, Turkish and Chinese, under LC_ALL=C, to which no better locale is put in."""
    for name, value in {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0"}.items():
        monkeypatch.setenv(name, value)
    with Service.start(tmp_path) as service:
        async with service.client(service.token("t"), era) as client:

            async def call(tool: str, **arguments: object) -> str:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, text_of(result)
                return text_of(result)

            await call("create_note", path=NAME, content=f"{WORDS}\r\n", frontmatter={WORDS: WORDS})
            expected = f"---\r\n{WORDS}: {WORDS}\r\n---\r\n{WORDS}\r\n"
            assert (service.vault / NAME).read_bytes().decode("utf-8") == expected
            await call(
                "edit_note", path=NAME, edits=[{"old_string": "會議", "new_string": "系統ığ", "replace_all": True}]
            )
            await call("update_frontmatter", path=NAME, set={"başlık": [WORDS]})
            await call("update_tags", path=NAME, add=["日本/ağaç"])
            await call("write_note", path=NAME, content=WORDS, mode="append")
            expected = expected.replace("會議", "系統ığ")
            head, body = expected.split("---\r\n", 2)[1:]
            head += f"başlık:\r\n  - {WORDS}\r\ntags:\r\n  - 日本/ağaç\r\n"
            expected = f"---\r\n{head}---\r\n{body}{WORDS}\r\n"
            assert (service.vault / NAME).read_bytes().decode("utf-8") == expected
            assert (await call("read_note", path=NAME)).split("]\n", 1)[1] == expected
            assert NAME in await call("search_notes", query="ĞAÇ — 系統")
            [uri] = [one.uri for one in (await client.list_resources()).resources if one.name == NAME]
            [content] = (await client.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            assert content.text == expected
