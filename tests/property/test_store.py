"""Any sequence of operations leaves exactly what a plain dictionary would hold, on every kind of file system."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import NoteChanged, NoteExists, NoteNotFound
from service.store.files import VaultFiles
from service.store.root import Root
from tests.support.disk import allow, at, texts
from tests.support.kernels import WEAKER, RefusingKernel

NAMES = st.sampled_from(["a.md", "b.md", "x/a.md", "x/y/c.md", "é.md", "d"])
TEXTS = st.binary(max_size=20)
STEP = st.tuples(st.sampled_from(["put", "replace", "stale", "move", "remove", "trash"]), NAMES, NAMES, TEXTS)
Step = tuple[str, str, str, bytes]


def done(files: VaultFiles, model: dict[str, bytes], step: Step) -> None:
    """Do one step to both; the store must refuse what the model says is impossible."""
    what, name, other, text = step
    with suppress(NoteExists, NoteNotFound):
        match what:
            case "put":
                files.put(at(name), text, 0o644, allow)
                assert name not in model
                model[name] = text
            case "replace":
                files.replace(files.read_tracked(at(name)), text, allow)
                model[name] = text
            case "stale":
                old = files.read_tracked(at(name))
                newer = files.replace(old, old.data + b"+", allow)
                model[name] = newer.data
                with suppress(NoteChanged):
                    files.replace(old, text, allow)
                    raise AssertionError("a stale version was replaced")
            case "move":
                files.move(files.read_tracked(at(name)), at(other), allow)
                assert other not in model
                model[other] = model.pop(name)
            case "remove":
                files.remove(files.read_tracked(at(name)), allow)
                del model[name]
            case "trash":
                gone = files.trash(files.read_tracked(at(name)), allow)
                model[str(gone)] = model.pop(name)


@given(st.sampled_from(sorted(WEAKER)), st.lists(STEP, max_size=12))
@settings(deadline=None, max_examples=150)
def test_the_vault_holds_what_was_put_there(kind: str, steps: Sequence[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Root(Path(folder))
        files = VaultFiles(root, RefusingKernel(WEAKER[kind]))
        model: dict[str, bytes] = {}
        for step in steps:
            done(files, model, step)
            assert texts(Path(folder)) == model
        assert sorted(str(entry.path) for entry in files.walk(suffixes=("",))) == sorted(
            name for name in model if not name.startswith(".trash/")
        )
        assert list(files.leftovers()) == []
        root.close()
