"""Secrets planted outside the folders of a token, and every tool, resource and error asked for them over real HTTP.

Issue 5: "a client limited to `Projects/` learns nothing about the rest, not even counts, names in errors, link targets or
commit messages", in both protocol eras. Every secret holds MARK, which no answer may hold, headers included. That answers are
those of a vault without the rest is asked in `tests/property/test_folder_limits.py`.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from service.tools.catalogue import SPECS
from tests.property.test_folder_limits import moved_in
from tests.support.rooms import ALL_TOOLSETS
from tests.support.service import ERAS, LEGACY, MODERN, Answer, Service, wait_until
from tests.support.toolpaths import places
from tests.support.vaults import lay_out
from tests.wire.test_refusals import NOTES, every_row
from tests.wire.test_revocation import request
from tests.wire.test_tools import CALLS

pytestmark = pytest.mark.timeout(300)

MARK: Final = "zqx"
SECRETS: Final[Mapping[str, str | bytes]] = {
    **{
        name: f"{MARK}content\n# {MARK}heading\n"
        for name, data in NOTES.items()
        if name.endswith(".md") and isinstance(data, str)
    },
    f"{MARK}-root-name.md": "a name at the root\n",
    f"{MARK}-folder/deep/old.md": "a folder's name\n",
    "Outside/known.md": f"---\ntags: [{MARK}tag]\naliases: [{MARK}alias, Nowhere, never]\n---\n# {MARK}heading\n{MARK}words of three\n",
    "Outside/tasks.md": f"- [ ] {MARK}task 📅 2026-01-01\n",
    "Outside/links.md": f"[[Projects/old|{MARK}shown]] [[{MARK}target]] #{MARK}/tag ![](https://example.org/{MARK})\n",
    "Outside/board.canvas": json.dumps(
        {
            "nodes": [
                {
                    "id": "1",
                    "type": "text",
                    "text": f"{MARK}card [[Projects/old]]",
                    "x": 0,
                    "y": 0,
                    "width": 1,
                    "height": 1,
                }
            ],
            "edges": [],
        }
    ),
    "Outside/pic.png": b"\x89PNG\r\n\x1a\n" + MARK.encode(),
    f"Outside/{MARK}.png": b"\x89PNG\r\n\x1a\n",
    f"Clippings/{MARK}-clip.md": "three words from outside\n",
    f".trash/Outside/{MARK}.md": "deleted before\n",
    ".trash/Projects/from-elsewhere.md": f"{MARK} Obsidian trashed Outside/Projects\n",
    "Templates/Day.md": f"{MARK}template {{{{title}}}}\n",
    "STRONGROOM.md": f"{MARK}guide\n",
    "AGENTS.md": f"{MARK}agents\n",
    ".obsidian/daily-notes.json": json.dumps(
        {"folder": f"{MARK}-daily", "format": f"[{MARK}]YYYY", "template": f"{MARK}-template"}
    ),
    ".obsidian/plugins/periodic-notes/data.json": json.dumps(
        {
            "weekly": {"format": f"YYYY LL [{MARK}]", "folder": f"{MARK}-weekly"},
            "monthly": {"format": "[month]", "folder": "Projects/Months", "template": "Templates/Day"},
            "yearly": {"format": "[year]", "folder": "Projects/Years", "template": f"{MARK}-nowhere"},
        }
    ),
    ".obsidian/plugins/obsidian-tasks-plugin/data.json": json.dumps(
        {
            "statusSettings": {
                "customStatuses": [{"symbol": "z", "name": f"{MARK}status", "nextStatusSymbol": "x", "type": "TODO"}]
            }
        }
    ),
    "projects/old.md": f"{MARK} a folder that differs in case\n",
    "Projects-old/old.md": f"{MARK} a folder whose name goes on\n",
}
INSIDE: Final = {f"Projects/{name}": data for name, data in NOTES.items() if not name.startswith(".")}
LINKS: Final = {
    "Projects/links.md": "[[known]] [[Outside/known]] [a](../Outside/tasks.md) ![[pic.png]] [[Nowhere]] #inside\n"
}
CURSOR: Final = base64.urlsafe_b64encode(b"Outside/a.md").decode()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A vault with a past: notes that went over the border both ways, deleted ones, another token's writes on both sides."""
    folder = tmp_path_factory.mktemp("limits")
    (folder / "vault").mkdir()
    lay_out(
        folder / "vault",
        {**SECRETS, **INSIDE, **LINKS, "Outside/gone.md": f"{MARK}\n", "Outside/came.md": "from outside\n"},
    )
    lay_out(folder / "vault", {"Projects/went.md": "went outside\n"})
    settings = {
        "TOOLSETS": ALL_TOOLSETS,
        "COMMIT_MESSAGE": f"{MARK}message {{summary}}",
        "ALLOW_ACTIVE": f"{MARK}-active",
    }
    with Service.start(folder, **settings) as service:
        wait_until(
            lambda: any((service.state / "history.git" / "refs" / "heads").iterdir()), 20, "make its first commit"
        )
        (service.vault / "Outside/gone.md").unlink()
        (service.vault / "Outside/came.md").rename(service.vault / "Projects/came.md")
        (service.vault / "Projects/went.md").rename(service.vault / f"Outside/{MARK}-went.md")
        another = service.token(f"{MARK}grant")
        for path in ("Projects/by-another.md", "Outside/by-another.md"):
            call(service, another, MODERN, "create_note", {"path": path, "content": "by another\n"})
        assert service.cli("commit").returncode == 0
        call(service, another, MODERN, "create_note", {"path": "Outside/pending.md", "content": f"{MARK}\n"})
        yield service


@pytest.fixture(scope="module", params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def token(service: Service, era: str) -> str:
    """One that may read and write in `Projects` and in nothing else."""
    return service.token(f"limited-{era}", "--folder", "Projects")


def asked(service: Service, token: str, era: str, method: str, **params: Any) -> Answer:
    """One message as it goes over the wire."""
    message, headers = request(method, era, **params)
    if era == MODERN and "uri" in params:
        headers["Mcp-Name"] = params["uri"]
    return service.post(
        token, message, *((name, value) for name, value in headers.items() if name.lower().startswith("mcp-"))
    )


def call(service: Service, token: str, era: str, tool: str, arguments: Mapping[str, Any]) -> Answer:
    answer = asked(service, token, era, "tools/call", name=tool, arguments=dict(arguments))
    assert answer.status in (200, 400), f"{tool} {arguments}: {answer}"
    return answer


def text_of(answer: Answer) -> str:
    """The text of a tool's answer, or the error's."""
    raw = answer.body.decode()
    [line] = [line.removeprefix("data: ") for line in raw.splitlines() if line.startswith(("data: {", "{"))] or [raw]
    told = json.loads(line)
    return (
        told["error"]["message"] if "error" in told else "\n".join(part["text"] for part in told["result"]["content"])
    )


def secrets_in(answer: Answer) -> list[str]:
    """Everything in an answer that holds MARK: as it stands, and in what base64 carries."""
    whole = f"{dict(answer.headers)} {answer.body.decode()}".casefold()
    found = [whole[max(0, at.start() - 60) : at.end() + 60] for at in re.finditer(MARK, whole)]
    for piece in re.findall(r"[A-Za-z0-9+/_-]{12,}={0,2}", answer.body.decode()):
        try:
            carried = base64.b64decode(piece, altchars=b"-_", validate=True)
        except (ValueError, binascii.Error):
            continue
        if MARK.encode() in carried:
            found.append(piece)
    return found


def outside(vault: Path) -> dict[str, bytes]:
    """Every file that is not in the folder, nor in the trash as deleted from it."""
    everything = {path.relative_to(vault).as_posix(): path for path in vault.rglob("*") if path.is_file()}
    mine = ("Projects/", ".trash/Projects/run")
    return {name: path.read_bytes() for name, path in everything.items() if not name.startswith(mine)}


def test_the_secrets_are_there_for_a_token_without_a_limit(service: Service, era: str) -> None:
    """So that the tests below cannot pass for want of secrets: the same questions bring them to light."""
    whole = service.token(f"whole-{era}")
    for tool, arguments in {
        "get_vault_tree": {}, "list_tags": {}, "list_tasks": {}, "list_changes": {}, "list_notes": {"limit": 500}, "get_daily_note": {},
        "search_notes": {"query": "three"}, "find_broken_links": {}, "resolve_link": {"link": f"[[{MARK}alias]]"},
    }.items():  # fmt: skip
        assert secrets_in(call(service, whole, era, tool, arguments)), tool


def test_no_tool_tells_a_secret_at_its_work(service: Service, token: str, era: str) -> None:
    """Issue 5: every call that the wire tests know for each tool, in the folder; what is outside stays as it is."""
    before, told = outside(service.vault), []
    for tool, arguments, _ in CALLS:
        given = json.loads(json.dumps(moved_in(arguments)).replace("{era}", f"run-{era}"))
        told += [(tool, arguments, found) for found in secrets_in(call(service, token, era, tool, given))]
    assert told == []
    assert {tool for tool, _, _ in CALLS} == {spec.name for spec in SPECS}
    assert outside(service.vault) == before


def test_no_tool_tells_a_secret_when_it_refuses(service: Service, token: str, era: str) -> None:
    """Issue 5, names in errors: every row of the refusals, in the folder and outside of it."""
    before, told = outside(service.vault), []
    for tool, arguments, _ in every_row():
        for given in (moved_in(arguments), arguments):
            told += [(tool, given, found) for found in secrets_in(call(service, token, era, tool, given))]
    assert told == []
    assert outside(service.vault) == before


def test_no_tool_tells_a_secret_of_a_path_outside(service: Service, token: str, era: str) -> None:
    """Issue 5: every place for a path, given paths that are there, outside."""
    before, told = outside(service.vault), []
    paths = ("Outside/known.md", "Outside", "Outside/board.canvas", "Outside/pic.png", "Clippings", "STRONGROOM.md", "projects/old.md",
             "Projects-old/old.md", "Outside/gone.md", "Projects/from-elsewhere.md")  # fmt: skip
    for place in places():
        for path in paths:
            told += [
                (str(place), path, found)
                for found in secrets_in(call(service, token, era, place.tool, place.with_path(path)))
            ]
    assert told == []
    assert outside(service.vault) == before


def test_no_resource_tells_a_secret(service: Service, token: str, era: str) -> None:
    """Issue 5: pages and cursors, the guide, notes and pictures, there and not there."""
    answers = [
        asked(service, token, era, "resources/list"),
        asked(service, token, era, "resources/list", cursor=CURSOR),
        asked(service, token, era, "resources/list", cursor="%%"),
        asked(service, token, era, "resources/templates/list"),
        asked(service, token, era, "tools/list"),
    ]
    names = [name for name in (*SECRETS, "Outside/nowhere.md", "Outside", "..") if MARK not in name]
    uris = ["strongroom://guide", "note://", *(f"note://{name}" for name in names)]
    answers += [asked(service, token, era, "resources/read", uri=uri) for uri in uris]
    assert [secrets_in(answer) for answer in answers] == [[]] * len(answers)
    assert b"note://Projects/old.md" in answers[0].body
    assert b"Outside" not in answers[0].body
    assert b"Projects/" in asked(service, token, era, "resources/read", uri="strongroom://guide").body


def test_history_tells_of_the_folder_alone(service: Service, token: str, era: str) -> None:
    """Issue 5, commit messages; brief: own label and "someone else", counts of the folder, nothing before its border."""
    changes = json.loads(text_of(call(service, token, era, "list_changes", {"until": "now", "limit": 50})))["changes"]
    first, second = changes[-1], changes[-2]
    assert {first["added"]} == {len(INSIDE) + len(LINKS) + 1}
    labels = {change["by"] for change in changes}
    assert "someone else" in labels
    assert labels <= {"", "someone else", f"limited-{era}"}
    named = {file["path"] for change in changes for file in change["files"]}
    assert named
    assert all(name.startswith("Projects/") for name in named)
    assert second["files"] or changes[-3]["files"]
    versions = json.loads(text_of(call(service, token, era, "note_history", {"path": "Projects/came.md"})))["versions"]
    assert [(version["action"], version["path"]) for version in versions] == [("added", "Projects/came.md")]
    went = json.loads(text_of(call(service, token, era, "note_history", {"path": "Projects/went.md"})))["versions"]
    assert [(version["action"], version["path"]) for version in went] == [
        ("removed", "Projects/went.md"),
        ("added", "Projects/went.md"),
    ]


def test_a_commit_that_touched_nothing_here_is_unknown(service: Service, token: str, era: str) -> None:
    """Brief: reading, comparing and restoring at a revision from outside is refused as one that never was."""
    whole = service.token(f"for-revisions-{era}")
    every = json.loads(text_of(call(service, whole, era, "list_changes", {"path_prefix": "Outside", "limit": 50})))[
        "changes"
    ]
    mine = json.loads(text_of(call(service, token, era, "list_changes", {"limit": 50})))["changes"]
    foreign = [change["revision"] for change in every if change["revision"] not in {one["revision"] for one in mine}]
    assert foreign, "a commit of the other token outside"
    for revision in foreign:
        for tool, more in (
            ("read_note_version", {"revision": revision}),
            ("restore_note", {"revision": revision}),
            ("diff_note", {"from": revision}),
        ):
            said = text_of(call(service, token, era, tool, {"path": "Projects/old.md", **more}))
            never = text_of(
                call(service, token, era, tool, {"path": "Projects/old.md", **dict.fromkeys(more, "0" * 12)})
            )
            assert said.startswith("NOT_FOUND: ")
            assert said.replace(revision, "0" * 12) == never


def test_a_limited_token_that_may_only_read_writes_nowhere(service: Service, era: str) -> None:
    """attack 68, with a folder limit: read-only and limited hold together."""
    token = service.token(f"limited-reader-{era}", "--read-only", "--folder", "Projects")
    before = {path: path.read_bytes() for path in service.vault.rglob("*") if path.is_file()}
    for tool, arguments, _ in CALLS:
        if tool in {spec.name for spec in SPECS if spec.writes}:
            given = json.loads(json.dumps(moved_in(arguments)).replace("{era}", "in-vain"))
            assert text_of(call(service, token, era, tool, given)).startswith("FORBIDDEN: "), tool
    assert {path: path.read_bytes() for path in service.vault.rglob("*") if path.is_file()} == before


def test_a_header_that_names_another_tool_widens_nothing(service: Service) -> None:
    """attack 69, with a folder limit: the body counts; a header that says otherwise is refused, and tells nothing."""
    token = service.token("limited-liar", "--read-only", "--folder", "Projects")
    arguments = {"path": "Projects/liar.md", "content": "x"}
    message, headers = request("tools/call", MODERN, name="create_note", arguments=arguments)
    mcp = [(name, value) for name, value in headers.items() if name.lower().startswith("mcp-") and name != "Mcp-Name"]
    lying = service.post(token, message, *mcp, ("Mcp-Name", "read_note"))
    legacy, _ = request("tools/call", LEGACY, name="create_note", arguments=arguments)
    assert lying.status == 400
    assert b"FORBIDDEN" in service.post(token, legacy, ("Mcp-Name", "read_note")).body
    assert not (service.vault / "Projects/liar.md").exists()
    assert secrets_in(lying) == []
