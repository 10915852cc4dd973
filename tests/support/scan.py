"""Looking for secrets in everything a run left behind: files, git objects unpacked, memory maps of what processes were told.

    found = scan.leaks({"access token": token, ...}, scan.files(state), scan.git_objects(state / "history.git"))
    assert found == []

A secret is looked for as it is and in the spellings in which it could have slipped through: in hexadecimal, in base64 (at
any of the three offsets), percent-encoded, in UTF-16, and in JSON. Hashes are no spellings: they are how secrets are kept.
"""

from __future__ import annotations

import base64
import json
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote, quote_plus

MIN_CHARS: Final = 8
"""A shorter secret would be found by accident, in hexadecimal and in packs."""

Named = tuple[str, bytes]


def leaks(secrets: Mapping[str, str], *places: Iterable[Named], is_plain: bool = False) -> list[tuple[str, str]]:
    """Which secret is found where, both by name: a failing test must not show the secret itself.

    Args:
        is_plain: look for each as it is alone; for places that are large and that nothing here writes to.

    Raises:
        AssertionError: a secret is too short to look for, or there is nothing to look through.
    """
    assert secrets
    assert all(len(secret) >= MIN_CHARS for secret in secrets.values())
    looked_for = {name: {secret.encode()} if is_plain else spellings(secret) for name, secret in secrets.items()}
    found, looked_through = [], 0
    for place, data in (one for many in places for one in many):
        looked_through += len(data)
        found += [(name, place) for name, ways in looked_for.items() if any(way in data for way in ways)]
    assert looked_through, "nothing to look through"
    return found


def spellings(secret: str) -> frozenset[bytes]:
    """The ways in which `secret` may stand somewhere."""
    plain = secret.encode()
    ways = {plain, plain.hex().encode(), plain.hex().upper().encode(), secret.encode("utf-16-le")}
    ways |= {quote(secret).encode(), quote_plus(secret).encode(), json.dumps(secret)[1:-1].encode()}
    for offset in range(3):
        # Of what is encoded together with its neighbours, the middle part depends on the secret alone.
        encoded = base64.b64encode(b"\0" * offset + plain).rstrip(b"=")
        middle = encoded[-(-offset * 8 // 6) : len(encoded) - 1]
        ways |= {middle, middle.replace(b"+", b"-").replace(b"/", b"_")}
    return frozenset(ways)


def files(*roots: Path) -> Iterator[Named]:
    """Every regular file below these folders, as it is on the disk."""
    for root in roots:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.is_file() and not path.is_symlink():
                yield str(path.relative_to(root.parent)), path.read_bytes()


def git_objects(git_dir: Path) -> Iterator[Named]:
    """Every object of a repository, inflated and out of its pack, reachable or not.

    Raises:
        AssertionError: there is none.
    """
    done = subprocess.run(
        ["git", f"--git-dir={git_dir}", "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        capture_output=True,
        check=True,
    )
    assert done.stdout, f"no objects in {git_dir.name}"
    yield f"objects of {git_dir.name}", done.stdout


def image_layers(archive: Path) -> Iterator[Named]:
    """Every file of every layer of an image that `save` wrote, with the image's own documents.

    Raises:
        AssertionError: it holds no layers.
    """
    layers = 0
    with tarfile.open(archive) as image:
        for member in image:
            file = image.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            try:
                with tarfile.open(fileobj=file) as layer:
                    layers += 1
                    for one in layer:
                        content = layer.extractfile(one) if one.isfile() else None
                        if content is not None:
                            yield f"layer {layers}: {one.name}", content.read()
            except tarfile.ReadError:
                file.seek(0)
                yield member.name, file.read()
    assert layers, "no layers"


def process(pid: int) -> Iterator[Named]:
    """What a process was told when it began: its words and its environment, which others on the machine may see."""
    for name in ("cmdline", "environ"):
        yield f"/proc/PID/{name}", Path(f"/proc/{pid}/{name}").read_bytes()
