"""docs/reference/tools.md, made from the catalogue of tools and the tree of errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from mcp.server.mcpserver.tools import Tool

from service import errors
from service.guards import limits, paths
from service.tools import resources
from service.tools.catalogue import SPECS
from service.tools.register import Json, ToolSpec, as_tool
from service.tools.workers import Workers
from service.vault import guide

CODES: Final[Mapping[str, str]] = {
    "INVALID_PATH": "The path is empty, absolute, leaves the vault, holds `\\`, control or invisible characters, or is a "
    "new name that other systems cannot carry.",
    "NOT_A_NOTE": "The file type is not one that notes have.",
    "HIDDEN_PATH": "A part of the path begins with a dot or is kept out of reach (`.git`, `node_modules`).",
    "OUTSIDE_VAULT": "A symbolic link stands in the way that is not followed (see STRONGROOM_SYMLINKS).",
    "NOT_A_FILE": "A folder, FIFO, device or socket is there.",
    "NOT_FOUND": "Nothing of that name; up to three like it are named.",
    "AMBIGUOUS_PATH": "Two files have that name, encoded differently.",
    "ALREADY_EXISTS": "The name is taken, also by another spelling or case of the same letters; or the version to replace is not named.",
    "CONFLICT": "The note is another version than expected; both are named. Read it again.",
    "NO_MATCH": "The text to replace does not occur, or nothing would change.",
    "AMBIGUOUS_MATCH": "The text to replace occurs more than once; the lines are named.",
    "SECTION_NOT_FOUND": "The note has no heading of that name; those it has are named.",
    "AMBIGUOUS_SECTION": "Several headings of the note have that name; their lines are named.",
    "NOT_A_TASK": "No task stands on that line, or none that this can be done to; says what does, and where tasks are.",
    "HIDDEN_CONTENT": "The change would touch, show or add to what is not shown of the note, or its own text would not be seen.",
    "UNSAFE_CONTENT": "The change would make text of the note run or load something, or cannot be made harmless for certain.",
    "INVALID_FRONTMATTER": "The properties cannot be read as YAML within bounds, or not be changed by lines; read_note shows them as text.",
    "INVALID_ARGUMENT": "A parameter is missing, unknown, of the wrong type or out of bounds.",
    "TOO_LARGE": "More than one write or one note may hold.",
    "NOT_TEXT": "The note is no UTF-8, so it can be read but not changed.",
    "READ_ONLY": "Strongroom or the vault's file system is read-only.",
    "FORBIDDEN": "The token may not do this, has used up its writes for the hour, or is no longer alive.",
    "BUSY": "Another program is writing; try again.",
    "NO_SPACE": "The disk is full; nothing was changed.",
    "UNAVAILABLE": "The vault or its history does not answer, or a search took too long; try again later.",
    "MISCONFIGURED": "The owner must change something; the sentence says what.",
    "INTERNAL": "Something went wrong inside and was logged; the answer tells nothing more.",
}
"""Every code an error can begin with, and what it says."""

GROUPS: Final[Mapping[str, str]] = {
    "notes": "Notes",
    "daily": "Daily notes",
    "tasks": "Tasks",
    "metadata": "Metadata",
    "links": "Links",
    "history": "History",
    "files": "Files (off by default)",
    "connector": "Connector (off by default)",
}


def blocks() -> Iterator[str]:
    """The page's paragraphs."""
    yield "# Tools"
    yield (
        "What an assistant can do with the vault over MCP, by HTTP and by stdio alike.\n"
        "`STRONGROOM_TOOLSETS` chooses the groups, `STRONGROOM_DISABLED_TOOLS` leaves out single tools.\n"
        "A token that may only read, and read-only mode, neither show nor allow a tool that writes."
    )
    yield "## What holds for all"
    yield _rules()
    yield "## File types"
    yield table(("Type", "Read as", "Written", "Searched and listed as a note"), _types())
    yield "Names that begin with a dot are out of reach, whatever their type; list_directory shows all others."
    for toolset, title in GROUPS.items():
        specs = [spec for spec in SPECS if spec.toolset == toolset]
        if specs:
            yield f"## {title}"
        for spec in specs:
            yield from _one_tool(spec, as_tool(spec, Workers()))
    yield "## Resources"
    yield (
        f"Each note is also a resource, `{resources.SCHEME}` and its percent-encoded path; a path that is not encoded is "
        f"understood too.\n`resources/list` gives `{resources.GUIDE}` first, then the notes sorted by path, "
        f"{resources.NOTES_A_PAGE} a page.\n"
        "Reading one gives the whole text as `text/markdown`, as read_note shows it, with `version` and `bytes` in `_meta`, and "
        "`hidden` and `notices` where there is something to tell.\n"
        "Errors are JSON-RPC errors with the codes below."
    )
    yield (
        f"A picture ({_suffixes(paths.IMAGE_SUFFIXES)}) is a resource by its path in the same way, with the type that its first bytes "
        f"tell, up to {limits.MAX_IMAGE_BYTES:,} bytes.\nPictures are not listed; list_directory shows them, and notes name them."
    )
    yield (
        f"`{resources.GUIDE}` is a short text on how this vault is organised: the words of {' or else '.join(guide.NAMES)} at the "
        f"vault's root, guarded as read_note, at most {limits.MAX_GUIDE_CHARS:,} characters, and a few facts (counts, folders at the "
        "top, today's daily note)."
    )
    yield "## Errors"
    yield "An error reads `CODE: sentence`; the sentence says what to do.\nNo note text is ever in it."
    yield table(("Code", "What it says"), [(f"`{code}`", words) for code, words in CODES.items()])


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [heads, ("---",) * len(heads), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def codes_in_use() -> set[str]:
    """The codes of all errors, from their tree; those of PathRefused are given where it is raised."""
    pending, found = [errors.AppError], set()
    while pending:
        branch = pending.pop()
        found.add(branch.code)
        pending += branch.__subclasses__()
    return found


def _types() -> list[tuple[str, ...]]:
    return [
        (_suffixes(paths.MARKDOWN_SUFFIXES), "text, with properties, headings, tags, tasks and links", "yes", "yes"),
        ("`.txt`", "text", "yes", "yes"),
        (
            "`.canvas`",
            "an outline of cards and edges",
            "as text, which should be its JSON, with `STRONGROOM_WRITE_TYPES=canvas`",
            "no",
        ),
        ("`.base`", "text", "as text, with `STRONGROOM_WRITE_TYPES=base`", "no"),
        (_suffixes(paths.IMAGE_SUFFIXES), f"a resource, up to {limits.MAX_IMAGE_BYTES:,} bytes", "no", "no"),
        ("`.svg`", "not at all: [it may hold scripts and hidden text](../explanation/guards.md#pictures)", "no", "no"),
        ("`.pdf` and others", "not at all", "no", "no"),
    ]


def _rules() -> str:
    return "\n".join(
        (
            f"- A **path** is relative to the vault, with `/`, at most {limits.MAX_PATH_CHARS} characters. "
            f"Notes are {_suffixes(paths.SEARCHED_SUFFIXES)}; {_suffixes(paths.READABLE_SUFFIXES[3:])} can be read too, a canvas "
            "as an outline of its cards and edges, and are written only with `STRONGROOM_WRITE_TYPES`. Other files are shown by "
            "list_directory; the text of PDF files is not read. "
            "Names match whether their letters are composed (NFC) or not.",
            "- A **version** is the first 12 hex digits of SHA-256 over the note's bytes. Every read and write reports it. "
            "`expected_hash` takes any 4 or more digits of that hash and refuses with `CONFLICT` when the note has changed.",
            f"- A **write** brings at most {limits.MAX_WRITE_CHARS:,} characters, to a note of at most "
            f"{limits.MAX_NOTE_BYTES:,} bytes. The note's line ends (LF or CRLF), byte order mark and file mode stay as they "
            "are; what is added takes its line ends.",
            f"- An **answer** holds at most {limits.MAX_RESULT_CHARS:,} characters of text; what is cut names the line to go on "
            f"from. A page of a list holds at most {limits.MAX_LIST_CHARS:,}. Lists tell their `total` and the `next_offset`.",
            "- **Lines** end with LF or CRLF and count from 1.",
            "- **What is shown** of a note is what a person who opens it could see. What is left out is counted in a notice "
            "(`[hidden: 2 comments, 5 invisible characters left out]`) and never found, quoted or matched; lines stay those of "
            "the file. [Why](../explanation/guards.md).",
            "- **Low-trust folders** hold what comes from outside. They are left out unless asked for, and named in `left_out`; what "
            "is read from there is labelled, and writes after that are counted. [How](../how-to/low-trust-folders.md).",
            "- **Cautions** tell of signs that a text is meant for other eyes; they change nothing.",
            "- **Lists and objects** may also be sent as JSON text.",
        )
    )


def _one_tool(spec: ToolSpec, tool: Tool) -> Iterator[str]:
    yield f"### {spec.name}"
    yield "\n\n".join(_sentences(paragraph) for paragraph in tool.description.split("\n\n"))
    yield f"*{_hints(spec)}*"
    properties = tool.parameters.get("properties")
    if properties:
        rows = [_parameter(name, part, tool.parameters) for name, part in properties.items()]
        yield table(("Parameter", "Type", "Default", "What it is"), rows)
    if tool.output_schema is not None:
        fields = [f"`{name}`" for name in tool.output_schema["properties"]]
        yield f"Answers with {', '.join(fields)}."


def _sentences(paragraph: str) -> str:
    """One sentence a line."""
    return re.sub(r"(?<=[.:]) (?=[A-Z])", "\n", " ".join(paragraph.split()))


def _hints(spec: ToolSpec) -> str:
    if not spec.writes:
        return "Reads."
    return (
        "Writes"
        + (", may replace or take away" if spec.destructive else "")
        + ("; doing it again changes nothing more." if spec.idempotent else ".")
    )


def _parameter(name: str, part: Mapping[str, Json], schema: Mapping[str, Json]) -> tuple[str, ...]:
    required = schema.get("required")
    is_required = isinstance(required, list) and name in required
    default = "required" if is_required else _shown(part["default"]) if "default" in part else ""
    return f"`{name}`", _type(part, schema), default, str(part.get("description", ""))


def _type(part: Mapping[str, Json], schema: Mapping[str, Json]) -> str:
    if "enum" in part and isinstance(part["enum"], list):
        return ", ".join(f"`{word}`" for word in part["enum"])
    if "$ref" in part:
        definitions = schema["$defs"]
        found = definitions[str(part["$ref"]).rsplit("/", 1)[-1]] if isinstance(definitions, dict) else None
        names = found["properties"] if isinstance(found, dict) else None
        return "{" + ", ".join(f"`{name}`" for name in names) + "}" if isinstance(names, dict) else "object"
    items = part.get("items")
    if isinstance(items, dict):
        return f"list of {_type(items, schema)}{_bounds(part, 'minItems', 'maxItems')}"
    letters = _bounds(part, "minLength", "maxLength")
    return f"{part['type']}{letters + ' characters' if letters else ''}{_bounds(part, 'minimum', 'maximum')}"


def _bounds(part: Mapping[str, Json], least: str, most: str) -> str:
    if least in part and most in part:
        return f", {part[least]} to {part[most]}"
    if most in part:
        return f", at most {part[most]}"
    return f", at least {part[least]}" if least in part else ""


def _shown(value: Json) -> str:
    return "" if value in ("", None) else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _suffixes(suffixes: tuple[str, ...]) -> str:
    return ", ".join(f"`{suffix}`" for suffix in suffixes)
