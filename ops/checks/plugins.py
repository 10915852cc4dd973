"""Obsidian plugins that run what stands in notes: whoever can write a note can then run code on the owner's devices.

Only the names of plugins and a few switches are read, with a bound, and nothing of the settings is ever said: they hold keys.
Switches and their names: Templater (`trigger_on_file_creation`), Dataview (`enableDataviewJs`), Meta Bind (`enableJs`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ops.checks.finding import Finding, Patient, ok, warn
from service.errors import AppError, NotFound, PathRefused
from service.guards import paths
from service.store import names
from service.store.files import VaultFiles
from service.store.root import Root

MAX_BYTES: Final = 1_000_000
"""Settings of a plugin that are larger are taken for switched on, since they cannot be looked at."""

_MAX_PROFILES: Final = 20  # an owner may keep several settings folders, such as `.obsidian` and `.obsidian.mobile`
_LIST: Final = "community-plugins.json"
_UNSEEN: Final = object()


@dataclass(frozen=True, slots=True)
class _Plugin:
    """A plugin that runs code out of notes: always, or when one of `switches` is on. `what` is what it then does."""

    name: str
    what: str
    switches: tuple[str, ...] = ()


RISKY: Final[Mapping[str, _Plugin]] = {
    "templater-obsidian": _Plugin(
        "Templater", "runs `<% %>` in every new file, also one that a sync brings", ("trigger_on_file_creation",)
    ),
    "dataview": _Plugin(
        "Dataview", "runs JavaScript in notes (dataviewjs)", ("enableDataviewJs", "enableInlineDataviewJs")
    ),
    "obsidian-meta-bind-plugin": _Plugin("Meta Bind", "runs JavaScript in notes", ("enableJs",)),
    "execute-code": _Plugin("Execute Code", "runs code blocks as programs"),
    "js-engine": _Plugin("JS Engine", "runs JavaScript in notes"),
    "datacore": _Plugin("Datacore", "runs JavaScript in notes"),
}


def plugins(patient: Patient) -> Finding:
    """No plugin is on that runs what a note holds."""
    root = Root(patient.settings.vault)
    files = VaultFiles(root)
    try:
        found = sorted(set(_risky(files)))
    finally:
        files.close()
        root.close()
    if found:
        return warn(
            "; ".join(found),
            "whoever can write a note there, by sync or as an assistant, can run code on the devices that open it. What "
            "assistants write through Strongroom is made harmless first; what comes from elsewhere is not",
            "switch it off in the plugin's settings, or leave it on knowing this",
        )
    return ok("no plugin that runs what stands in notes")


def _risky(files: VaultFiles) -> Iterator[str]:
    for profile in _profiles(files):
        switched_on = _json(files, f"{profile}/{_LIST}")
        for plugin_id in switched_on if isinstance(switched_on, list) else ():
            plugin = RISKY.get(plugin_id) if isinstance(plugin_id, str) else None
            if plugin is not None and _is_on(plugin, _json(files, f"{profile}/plugins/{plugin_id}/data.json")):
                yield f"{plugin.name} {plugin.what} ({profile})"


def _profiles(files: VaultFiles) -> list[str]:
    """Hidden folders at the root that list plugins."""
    with files.root.folder(paths.ROOT) as folder:
        hidden = sorted(name for name in names.listed(folder) if name.startswith(".") and name.isprintable())
    return [name for name in hidden if _json(files, f"{name}/{_LIST}") is not None][:_MAX_PROFILES]


def _is_on(plugin: _Plugin, settings: object) -> bool:
    if not plugin.switches or settings is _UNSEEN:
        return True
    return isinstance(settings, dict) and any(settings.get(switch) is True for switch in plugin.switches)


def _json(files: VaultFiles, name: str) -> object:
    """What a settings file holds; None when it is not there or no JSON, `_UNSEEN` when it may not be looked at."""
    try:
        return json.loads(files.read_tracked(paths.tracked(name), MAX_BYTES).data)
    except (NotFound, PathRefused, ValueError, RecursionError):
        return None
    except (AppError, OSError):
        return _UNSEEN
