"""Numbers with their unit and the reason for them. One place, so that docs and code cannot disagree."""

from __future__ import annotations

from typing import Final

MAX_PATH_CHARS: Final = 512
"""Characters in a vault-relative path: the contract's bound, well under PATH_MAX."""

MAX_PATH_BYTES: Final = 1024
"""Bytes in a vault-relative path."""

MAX_NAME_BYTES: Final = 255
"""Bytes in one component: what ext4, xfs, btrfs and APFS allow."""

MAX_NEW_NAME_BYTES: Final = 200
"""Bytes in one component of a new name: leaves room for the suffix of a conflict copy."""

MAX_NOTE_BYTES: Final = 10_000_000
"""Bytes of a note we read or change. A larger file is reported by size, never loaded whole."""

MAX_IMAGE_BYTES: Final = 5_000_000
"""Bytes of a picture that is given as a resource: what assistants take. A larger one is refused, never made smaller."""

MAX_GUIDE_CHARS: Final = 20_000
"""Characters of the owner's own words in the guide, since a client may put it before every conversation."""

MAX_SEARCHED_BYTES: Final = 10_000_000
"""Bytes of a note that a search reads; the same as for reading, so that what can be read can be found."""

MAX_WRITE_CHARS: Final = 1_000_000
"""Characters in one write, as the contract has it."""

MAX_RESULT_CHARS: Final = 60_000
"""Characters of text in one answer. Assistants keep roughly this much of a tool result; more is paged by line."""

MAX_LIST_CHARS: Final = 40_000
"""Characters of a page of a list or of facts: below the 50,000 beyond which Claude Code puts an answer into a file."""

MAX_SNIPPET_CHARS: Final = 200
"""Characters of a search snippet, centred on the match."""

MAX_HEADING_LINES: Final = 50_000
"""Lines that may be headings, in a note of which the headings are asked for: a second's work. More is no note for people."""

MAX_FRONTMATTER_CHARS: Final = 60_000
"""Characters of front matter that is parsed: as much as one answer holds. Parsing so much takes a second at worst."""

MAX_PROPERTY_DEPTH: Final = 32
"""Lists and mappings in each other in front matter; Obsidian shows two."""
