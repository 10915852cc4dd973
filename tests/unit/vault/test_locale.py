"""What a bare container's locale must not change."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

NAME = "Türkçe ığdır 系統 🖊️.md"
SCRIPT = """
import sys
from pathlib import Path
from service.guards import paths
from service.search.query import Query, search
from service.vault import notes, property_changes
from service.vault.parts.property_edits import Wanted
from tests.support.desk import desk_in
desk = desk_in(Path(sys.argv[1]))
name, words = (bytes.fromhex(word).decode("utf-8") for word in sys.argv[2:])
notes.create(desk.vault, desk.actor, paths.new_note(name), words)
wanted = Wanted({words: [name]})
property_changes.update(desk.vault, desk.actor, paths.writable_note(name), wanted)
[_, hit] = search(desk.vault, Query(words)).page.items
sys.stdout.buffer.write(str(hit.path).encode() + b"|" + hit.snippet.encode())
"""


def test_names_and_text_survive_a_locale_without_letters(tmp_path: Path) -> None:
    """Complaint 21: under LC_ALL=C, and where Python is kept from helping itself."""
    words = "İstanbul'da ağaç 會議 мир"
    for number, more in enumerate(({}, {"PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "POSIX"})):
        folder = tmp_path / str(number)
        folder.mkdir()
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder), NAME.encode().hex(), words.encode().hex()],
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "LANG": "C", **more},
            cwd=Path(__file__).resolve().parents[3],
            capture_output=True,
            check=False,
        )
        assert ran.stdout.decode().splitlines()[-1] == f"{NAME}|{words}", ran.stderr.decode()
        written = f"---\n{words}:\n  - {NAME}\n---\n{words}"
        assert (folder / "vault" / NAME).read_text(encoding="utf-8") == written
