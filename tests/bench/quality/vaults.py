"""The three vaults that queries are asked of, laid out in a scratch folder.

`wdd`: the driver documentation of the shared folder (CC-BY-4.0). `jsdocs`: the manuals of Bun and Next.js (both MIT), fetched
by npm as the packages `bun-types` and `next`, whose `.mdx` pages become `.md`. `scripts`: small notes of our own in many
scripts. Of the first two nothing is committed but paths.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
WDD: Final = HERE.parents[2].parent / "shared" / "vaults" / "wdd.tar.xz"
PACKAGES: Final = (("bun", "bun-types@1.4.5", "package/docs/"), ("next", "next@16.4.6", "package/dist/docs/"))
"""For `jsdocs`: the folder in the vault, the package with its version, and the folder of pages in it."""


class Missing(Exception):
    """A vault is not to be had here; says which and why."""


def make(name: str, folder: Path) -> Path:
    """Lay out the vault `name` in the empty or missing `folder`; returns it.

    Raises:
        Missing: what it is made of is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    match name:
        case "wdd":
            _wdd(folder)
        case "jsdocs":
            for below, package, pages in PACKAGES:
                _pages(package, pages, folder / below)
        case "scripts":
            _scripts(folder)
        case _:
            raise Missing(f"There is no vault {name!r}. There are wdd, jsdocs and scripts.")
    return folder


def _wdd(folder: Path) -> None:
    if not WDD.exists():
        raise Missing("wdd is not beside this checkout: put the shared folder there.")
    with tarfile.open(WDD) as archive:
        archive.extractall(folder, filter="data")


def _pages(package: str, pages: str, folder: Path) -> None:
    """Fetch a package with npm, without running anything of it, and keep its pages."""
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("jsdocs needs npm, which is not installed.")
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [npm, "pack", "--silent", package], cwd=scratch, capture_output=True, text=True, check=False
        )
        packed = next(Path(scratch).glob("*.tgz"), None)
        if done.returncode or packed is None:
            raise Missing(f"jsdocs: npm could not fetch {package}.")
        with tarfile.open(packed) as archive:
            for member in archive:
                if member.isfile() and member.name.startswith(pages) and member.name.endswith((".md", ".mdx")):
                    page = folder / Path(member.name[len(pages) :]).with_suffix(".md")
                    page.parent.mkdir(parents=True, exist_ok=True)
                    content = archive.extractfile(member)
                    assert content is not None
                    page.write_bytes(content.read())


def _scripts(folder: Path) -> None:
    """Notes are parted by a line `=== path` in one file, so that the project's own checks of Markdown leave them alone."""
    for note in (HERE / "scripts.txt").read_text(encoding="utf-8").split("\n=== ")[1:]:
        path, text = note.split("\n", 1)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="")
