"""Tools that follow links: what they answer, refuse and leave out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from service.guards import limits
from service.tools import links
from service.tools.context import LOW_TRUST
from tests.support.calling import Caller, calling
from tests.support.desk import Desk

pytestmark = pytest.mark.anyio

NOTES = {
    "Index.md": (
        '---\nup: "[[Hub]]"\n---\n\nSee [[Plan#Second|the plan]] and [a](Deep/My%20Note.md#x).\n'
        "Gone: [[Nowhere]], ![[pic.png|200]], `[[Code]]`, %%[[Comment]]%%\n[ref][r]\n\n[r]: Plan.md\n[[Web Page]]\n"
    ),
    "Hub.md": "[[#Here]] [[Index]]\n\n# Here\n",
    "Plan.md": "# First\n\n## Second\n\ntext ^block\n",
    "Deep/My Note.md": "---\naliases: [Mine, Other]\n---\n[[../Plan]] and [[plan]] twice\n",
    "Deep/Plan.md": "nothing\n",
    "pic.png": b"\x89PNG",
    "Board.canvas": json.dumps(
        {
            "nodes": [
                {"id": "a", "type": "file", "file": "Plan.md"},
                {"id": "b", "type": "text", "text": "see\n[[Plan]] <!-- [[Nowhere]] -->"},
            ]
        }
    ),
    "clippings/Web Page.md": "---\naliases: [Shiny]\n---\n[[Plan]] [[Missing]]\n",
    "clippings/Plan.md": "theirs\n",
}


@pytest.fixture
async def caller(desk: Desk) -> AsyncIterator[Caller]:
    desk.put(NOTES)
    async with calling(desk.room, links.SPECS) as caller:
        yield caller


LEADS = {
    "[[Hub]]": ("Hub.md", None),
    "hub": ("Hub.md", None),
    "[[Deep/My Note|shown]]": ("Deep/My Note.md", None),
    "[x](Deep/My%20Note.md)": ("Deep/My Note.md", None),
    "Deep/My%20Note.md": ("Deep/My Note.md", None),
    "<Deep/My Note.md>": ("Deep/My Note.md", None),
    "![[pic.png|200]]": ("pic.png", None),
    "Board.canvas": ("Board.canvas", None),
    "[[Plan#Second]]": ("Plan.md", 3),
    "[[Plan#First#second]]": ("Plan.md", 3),
    "Plan#^BLOCK": ("Plan.md", 5),
}


async def test_a_link_resolves_to_a_file_and_the_line_of_its_place(caller: Caller) -> None:
    """contract.md, resolve_link; complaint 10."""
    for link, expected in LEADS.items():
        facts = await caller.facts("resolve_link", link=link)
        assert (facts["path"], facts["line"]) == expected, link
        assert facts["notice"] == ""


async def test_a_missing_heading_is_told_and_the_note_still_found(caller: Caller) -> None:
    """As in Obsidian: the note opens at its top."""
    facts = await caller.facts("resolve_link", link="[[Plan#Third]]")
    assert (facts["path"], facts["line"]) == ("Plan.md", None)
    assert facts["notice"] == "The note has no such heading or block."


async def test_an_ambiguous_name_names_the_others(caller: Caller) -> None:
    """Complaint 9: never silently one of several; low-trust ones are not named."""
    facts = await caller.facts("resolve_link", link="[[Plan]]")
    assert (facts["path"], facts["alternatives"], facts["left_out"]) == ("Plan.md", ["Deep/Plan.md"], ["clippings"])
    near = await caller.facts("resolve_link", link="./Plan", from_path="Deep/My Note.md")
    assert near["path"] == "Deep/Plan.md"


async def test_a_heading_alone_needs_the_note_it_stands_in(caller: Caller) -> None:
    """Obsidian help, Internal links: [[#Heading]]."""
    assert (await caller.refusal("resolve_link", link="[[#Here]]")).startswith("INVALID_ARGUMENT: ")
    facts = await caller.facts("resolve_link", link="[[#Here]]", from_path="Hub.md")
    assert (facts["path"], facts["line"]) == ("Hub.md", 3)


async def test_an_alias_does_not_resolve_and_is_offered(caller: Caller) -> None:
    """decisions.md 16; complaint 10: Obsidian 1.13.7 does not resolve bare aliases."""
    said = await caller.refusal("resolve_link", link="[[mine]]")
    assert said.startswith("NOT_FOUND: ")
    assert "alias of 'Deep/My Note.md'" in said


async def test_what_resolves_to_nothing_names_what_is_like_it(caller: Caller) -> None:
    """contract.md: NOT_FOUND names up to three nearest existing paths; never one from a low-trust folder."""
    assert "'Hub.md'" in await caller.refusal("resolve_link", link="[[Hubb]]")
    assert "'Deep/My Note.md'" in await caller.refusal("resolve_link", link="[x](Other/My%20Note.md)")
    assert "'Deep/My Note.md'" in await caller.refusal("resolve_link", link="[[My Noet]]")
    for link in ("[[Shiny]]", "[[Web Pag]]", "clippings/Plam"):
        assert "clippings/" not in (await caller.refusal("resolve_link", link=link)).replace(link, "")


async def test_what_is_no_link_of_the_vault_is_refused(caller: Caller) -> None:
    """Each with a way out."""
    for link in ("https://example.org", "[x](https://example.org)", "[]", "#", "a\u200bb", "  "):
        assert (await caller.refusal("resolve_link", link=link)).startswith("INVALID_ARGUMENT: ")


async def test_a_link_into_a_low_trust_folder_is_labelled(caller: Caller) -> None:
    """guards.md 6, 58: a name is text from outside, too."""
    facts = await caller.facts("resolve_link", link="[[Web Page]]")
    assert (facts["path"], facts["notice"]) == ("clippings/Web Page.md", LOW_TRUST)


async def test_links_of_a_note_are_listed_with_where_they_lead(caller: Caller) -> None:
    """contract.md, get_links; not in code, not in comments; issue 4: properties and references as well."""
    facts = await caller.facts("get_links", path="Index.md")
    told = [(one["link"], one["path"], one["status"], one["line"]) for one in facts["outgoing"]]
    assert told == [
        ("Hub", "Hub.md", "resolved", 2),
        ("Plan#Second", "Plan.md", "resolved", 5),
        ("Deep/My Note.md#x", "Deep/My Note.md", "resolved", 5),
        ("Nowhere", None, "broken", 6),
        ("pic.png", "pic.png", "resolved", 6),
        ("Plan.md", "Plan.md", "resolved", 7),
        ("Web Page", None, "low_trust", 10),
    ]
    assert (facts["total_outgoing"], facts["broken"], facts["next_offset"]) == (7, 1, None)
    assert facts["outgoing"][1]["snippet"] == "See [[Plan#Second|the plan]] and [a](Deep/My%20Note.md#x)."
    assert [(one["path"], one["line"]) for one in facts["backlinks"]] == [("Hub.md", 1)]


async def test_backlinks_come_from_notes_and_canvases(caller: Caller) -> None:
    """contract.md, get_links; issue 4: links in canvas files. A link near another note of the name does not count."""
    facts = await caller.facts("get_links", path="Plan.md")
    told = [(one["path"], one["line"], one["link"]) for one in facts["backlinks"]]
    assert told == [
        ("Board.canvas", 3, "Plan.md"),
        ("Board.canvas", 6, "Plan"),
        ("Deep/My Note.md", 4, "../Plan"),
        ("Deep/My Note.md", 4, "plan"),
        ("Index.md", 5, "Plan#Second"),
        ("Index.md", 7, "Plan.md"),
    ]
    assert facts["backlinks"][1]["snippet"] == "[[Plan]]"
    assert (facts["left_out"], facts["notice"]) == (["clippings"], "")


async def test_low_trust_folders_are_told_when_asked_for(caller: Caller) -> None:
    """decisions.md 15: get_links and find_broken_links."""
    facts = await caller.facts("get_links", path="Plan.md", include_low_trust=True)
    assert "clippings/Web Page.md" in {one["path"] for one in facts["backlinks"]}
    assert (facts["left_out"], facts["notice"]) == ([], LOW_TRUST)
    inside = await caller.facts("get_links", path="Index.md", include_low_trust=True)
    assert inside["outgoing"][-1]["path"] == "clippings/Web Page.md"
    named = await caller.facts("get_links", path="clippings/Web Page.md")
    assert [one["link"] for one in named["outgoing"]] == ["Plan", "Missing"]
    assert named["notice"] == LOW_TRUST


async def test_a_canvas_has_links_as_well(caller: Caller) -> None:
    """Lines are those of the outline that read_note shows; what a card hides is no link."""
    facts = await caller.facts("get_links", path="Board.canvas")
    assert [(one["link"], one["line"]) for one in facts["outgoing"]] == [("Plan.md", 3), ("Plan", 6)]


async def test_broken_links_and_orphans_are_listed(caller: Caller) -> None:
    """contract.md, find_broken_links."""
    facts = await caller.facts("find_broken_links")
    assert [(one["path"], one["line"], one["link"]) for one in facts["broken"]] == [("Index.md", 6, "Nowhere")]
    assert facts["orphans"] == ["Deep/Plan.md"]
    assert (facts["total_broken"], facts["total_orphans"], facts["left_out"]) == (1, 1, ["clippings"])
    every = await caller.facts("find_broken_links", include_low_trust=True)
    assert [one["link"] for one in every["broken"]] == ["Nowhere", "Missing"]
    assert every["orphans"] == ["Deep/Plan.md", "clippings/Plan.md"]
    assert every["notice"] == LOW_TRUST


async def test_pages_go_through_both_lists_at_once(caller: Caller) -> None:
    """contract.md: every list is bounded and says how to go on."""
    seen: dict[str, list[str]] = {"outgoing": [], "backlinks": []}
    offset: object = 0
    while offset is not None:
        facts = await caller.facts("get_links", path="Index.md", limit=3, offset=offset)
        for name, links_so_far in seen.items():
            links_so_far += [one["link"] for one in facts[name]]
        offset = facts["next_offset"]
    assert (len(seen["outgoing"]), len(seen["backlinks"])) == (7, 1)


async def test_an_answer_stays_within_its_bound(caller: Caller, desk: Desk) -> None:
    """contract.md, limits: long names, long lines, long targets."""
    folder = "/".join(["x" * 99] * 4)
    desk.put({f"{folder}/{n}.md": f"{'w ' * 5000}[[Target#{'h' * 5000}]] [[{'g' * 5000}{n}]]\n" for n in range(200)})
    desk.put({"Target.md": "".join(f"[[gone {n} {'y' * 400}]]\n" for n in range(300))})
    for tool, given in (("get_links", {"path": "Target.md"}), ("find_broken_links", {})):
        result = await caller.call(tool, **given, limit=200)
        facts = result.structured_content
        assert isinstance(facts, dict)
        assert len(json.dumps(facts, ensure_ascii=False)) <= limits.MAX_RESULT_CHARS
        following = facts["next_offset"]
        assert isinstance(following, int)
        assert 0 < following < 200


async def test_a_note_in_either_encoding_of_its_name_has_its_links(caller: Caller, desk: Desk) -> None:
    """Complaint 37: a name stored NFD is found by its NFC form, in paths and in links."""
    desk.put({"Cafe\u0301.md": "[[Hub]]\n", "To.md": "[[Caf\u00e9]] [x](Caf%C3%A9.md) [y](Cafe%CC%81.md)\n"})
    facts = await caller.facts("get_links", path="Caf\u00e9.md")
    assert [one["path"] for one in facts["backlinks"]] == ["To.md"] * 3
    assert (await caller.facts("resolve_link", link="[[CAF\u00c9]]"))["path"] == "Cafe\u0301.md"


async def test_a_colon_in_a_name_makes_no_address_of_it(caller: Caller, desk: Desk) -> None:
    """Linux and macOS have such names."""
    desk.put({"Re: it.md": "x\n"})
    for link in ("[[Re: it]]", "Re: it", "[x](<Re%3A it.md>)"):
        assert (await caller.facts("resolve_link", link=link))["path"] == "Re: it.md"


async def test_what_a_note_hides_is_no_link_and_in_no_snippet(caller: Caller, desk: Desk) -> None:
    """guards.md 4: only what is shown; a planted link must not come out."""
    hidden = (
        "<div hidden>\n\n[[Hub]] planted\n\n</div>\n\n[[Hub]] seen <!-- planted --><span hidden>[[Nowhere]]</span>\n"
    )
    desk.put({"odd.md": hidden})
    out = await caller.facts("get_links", path="odd.md")
    assert [one["link"] for one in out["outgoing"]] == ["Hub"]
    back = await caller.facts("get_links", path="Hub.md")
    assert [one["snippet"] for one in back["backlinks"] if one["path"] == "odd.md"] == ["[[Hub]] seen"]
    broken = await caller.facts("find_broken_links")
    assert "odd.md" not in {one["path"] for one in broken["broken"]}
