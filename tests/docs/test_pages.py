"""The pages hold together: links lead somewhere, and what they name exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click
import pytest

from ops import commands
from service.settings.table import TABLE as SETTINGS
from tests.support.reference import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
OUR_PAGES = [page for page in PAGES if "sample-vault" not in page.parts]
"""The sample vault's notes link to each other as Obsidian does, and have no title of their own."""
HOW_TO = [page for page in OUR_PAGES if page.parent.name == "how-to"]
READ_BY_PEOPLE = [
    *PAGES,
    *(path for path in (ROOT / "container").iterdir() if path.suffix != ".lock"),
    ROOT / "ops" / "up",
]
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^ *```[a-z]*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
WORD = re.compile(r"[a-z][a-z-]*")
STOPS = {"|", ">", "&&", ";", "…", "||", ">>"}


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# -- links ------------------------------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """The headings of a page, as their links are spelled."""
    headings = re.findall(r"^#+ (.+)$", CODE.sub("", text_of(path)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", OUR_PAGES, ids=shown)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(CODE.sub("", text_of(page))):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        found = (page.parent / name).resolve() if name else page
        assert found.exists(), f"{target}: there is no {found}"
        assert not anchor or anchor in anchors(found), f"{target}: no such heading"


def test_every_page_can_be_reached_from_the_index() -> None:
    seen, pending = set[Path](), [ROOT / "docs" / "index.md"]
    while pending:
        page = pending.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        links = [target.partition("#")[0] for target in LINK.findall(text_of(page)) if "://" not in target]
        pending += [(page.parent / name).resolve() for name in links if name]
    assert {page for page in OUR_PAGES if page.name != "README.md"} <= seen


@pytest.mark.parametrize("page", OUR_PAGES, ids=shown)
def test_a_page_has_one_title_and_no_trailing_blanks(page: Path) -> None:
    lines = CODE.sub("", text_of(page)).splitlines()
    assert lines[0].startswith("# ")
    assert sum(line.startswith("# ") for line in lines) == 1
    assert not [line for line in lines if line != line.rstrip()]


# -- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", READ_BY_PEOPLE, ids=shown)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    known = {row.name for row in SETTINGS}
    for name in re.findall(r"STRONGROOM_[A-Z_]*[A-Z]", text_of(page)):
        assert name in known or name.removesuffix("_FILE") in known, name


# -- commands ---------------------------------------------------------------------------------------------------------


def snippets(page: Path) -> Iterator[str]:
    """Every line of code on a page, and every piece of inline code."""
    text = text_of(page)
    for block in CODE.findall(text):
        yield from block.replace("\\\n", " ").splitlines()
    yield from INLINE.findall(CODE.sub("", text))


def typed(line: str) -> Iterator[list[str]]:
    """What follows `strongroom` on a line, once for each time that it is a command."""
    try:
        words = [word.strip("[],\"'") for word in shlex.split(line, comments=True)]
    except ValueError:
        return
    places = [place for place, word in enumerate(words) if word.rpartition("/")[2] == "strongroom"]
    for place in places:
        rest = words[place + 1 :]
        end = next((index for index, word in enumerate(rest) if word in STOPS), len(rest))
        if end and (WORD.fullmatch(rest[0]) or rest[0].startswith("--")) and rest[0] != "strongroom":
            yield rest[:end]


def problem(words: list[str]) -> str | None:
    """Why this cannot be typed after `strongroom`; None when it can."""
    name, command = "strongroom", cast("click.Command", commands.strongroom)
    while isinstance(command, click.Group) and words and not words[0].startswith("-") and not words[0].isupper():
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return f"there is no command {words[0]!r}"
        name, command, words = words[0], found, words[1:]
    options = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
    options |= {"--help", "-h"}
    unknown = [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in options]
    return f"{name} has no {unknown}" if unknown else None


@pytest.mark.parametrize("page", READ_BY_PEOPLE, ids=shown)
def test_every_strongroom_command_and_option_that_is_named_exists(page: Path) -> None:
    lines = snippets(page) if page.suffix == ".md" else text_of(page).splitlines()
    wrong = [f"{' '.join(words)}: {why}" for line in lines for words in typed(line) if (why := problem(words))]
    assert wrong == []


def test_the_check_of_commands_sees_what_is_wrong() -> None:
    """It would otherwise be green for pages it cannot read."""
    assert list(typed("podman exec -it strongroom strongroom tokens revoke --all | cat")) == [
        ["tokens", "revoke", "--all"]
    ]
    assert list(typed("claude mcp add strongroom http://127.0.0.1/mcp")) == []
    assert problem(["tokens", "revoke", "--all"]) is None
    assert problem(["token", "revoke"]) == "there is no command 'token'"
    assert problem(["backup", "x.tar", "--overwrite"]) == "backup has no ['--overwrite']"
    named = [words for page in PAGES for line in snippets(page) for words in typed(line)]
    assert len(named) > 40


def leaves(name: str, command: click.Command) -> Iterator[str]:
    """The commands that can be typed below this one."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        if command.invoke_without_command:
            yield name
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from leaves(f"{name} {inner}", found)
    else:
        yield name


COMING_IN = [
    leaf for row in commands.TABLE if row.name in ("tokens", "auth") for leaf in leaves(row.name, commands.load(row))
]


@pytest.mark.parametrize("command", COMING_IN)
def test_every_command_about_coming_in_has_a_how_to_page(command: str) -> None:
    """Issue 5: each has a how-to page."""
    named = {" ".join(words) for page in HOW_TO for line in snippets(page) for words in typed(line)}
    asked = command.removesuffix(" list") if command == "auth clients list" else command
    assert any(words == asked or words.startswith(f"{asked} ") for words in named), command


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_script_and_option_that_is_named_exists(page: Path) -> None:
    for line in snippets(page):
        for script, rest in re.findall(r"(?:^|\s)\.?/?(ops/(?:up|test|lock))\b([^|;&>`]*)", line):
            source = text_of(ROOT / script)
            for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
                assert option in source, f"{script} has no {option}"


def test_the_readmes_two_commands_exist() -> None:
    """Issue 2: the two commands."""
    block = CODE.findall(text_of(ROOT / "README.md").partition("## Start it")[2])[0]
    scripts = [line.split()[0] for line in block.splitlines()]
    assert scripts == ["./ops/up", "./ops/test"]
    for script in scripts:
        assert (ROOT / script).stat().st_mode & 0o111


# -- dependencies -----------------------------------------------------------------------------------------------------


def locked(name: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", text_of(ROOT / name), re.MULTILINE))


def listed(part: str) -> set[str]:
    return set(re.findall(r"`([a-z0-9][a-z0-9-]*)`", part))


def test_every_package_that_is_installed_is_accounted_for() -> None:
    """The actual transitive list, as the locks have it."""
    page = text_of(ROOT / "docs" / "explanation" / "dependencies.md")
    runs, tests = page.partition("## What tests need")[::2]
    first_column = re.compile(r"^\| `([a-z0-9-]+)` \|", re.MULTILINE)
    assert set(first_column.findall(runs)) == locked("container/requirements.lock")
    tests = tests.partition("## What we did without")[0]
    assert listed(tests) - {"container", "tests"} >= locked("tests/requirements.lock") - locked(
        "container/requirements.lock"
    )
    assert set(first_column.findall(tests)) <= locked("tests/requirements.lock")


def test_every_direct_dependency_answers_the_three_questions() -> None:
    import tomllib

    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    page = text_of(ROOT / "docs" / "explanation" / "dependencies.md")
    direct = {re.split(r"[<>=]", line)[0] for line in project["project"]["dependencies"]}
    rows = re.findall(
        r"^\| `([a-z0-9-]+)` \|(.+)\|(.+)\|(.+)\|(.+)\|$", page.partition("## What comes along")[0], re.MULTILINE
    )
    assert {row[0] for row in rows} == direct
    assert all(cell.strip() for row in rows for cell in row)
    tests = {re.split(r"[<>=]", line)[0] for line in project["dependency-groups"]["test"]}
    assert tests <= listed(page.partition("## What tests need")[2])
