"""Whether the owner can let anybody in, and what the state keeps about it."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path
from typing import Final

from ops.checks import running
from ops.checks.finding import Finding, Patient, fail, ok, warn
from ops.output import counted
from service.auth.audit import FILE_NAME, TRAFFIC_NAME, Audit
from service.auth.clients import Clients
from service.auth.grants import Grants
from service.auth.passkeys import Passkeys
from service.auth.passphrase import INITIAL_FILE, Owner
from service.auth.tables import SCHEMA
from service.store import db

_OURS: Final = (db.FILE_NAME, FILE_NAME, TRAFFIC_NAME, INITIAL_FILE)
"""Beginnings of the names of files that nobody else may read."""


def way_in(patient: Patient) -> Finding:
    """A passphrase or a passkey lets the owner in; what was let in is counted."""
    settings = patient.settings
    if not settings.has_oauth:
        return ok("switched off (STRONGROOM_OAUTH): clients come with tokens only")
    if settings.edge_keys and settings.home_url is None:
        return ok("at the edge: this is the home of a split Strongroom")
    if not (settings.state / db.FILE_NAME).exists():
        return ok("nothing yet: the first start of the server makes a passphrase")
    with closing(db.Database(settings.state, (SCHEMA,))) as database:
        owner = Owner(database, settings.state, patient.clock)
        passkeys = Passkeys(database, patient.clock, settings.base_url())
        usable = len(passkeys.usable())
        if not owner.has_passphrase() and not usable:
            return _no_way_in(patient, is_off=owner.is_off())
        strangers = [one.name for one in passkeys.all() if not passkeys.is_usable(one)]
        ways = [
            *(["a passphrase"] if owner.has_passphrase() else []),
            *([counted(usable, "passkey")] if usable else []),
        ]
        facts = _alive(database, patient)
    if strangers:
        return warn(
            f"{counted(len(strangers), 'passkey')} made for another address, such as {strangers[0]!r}",
            "a passkey belongs to the host in STRONGROOM_PUBLIC_URL, which is another one now",
            "set it as it was, or add new ones: strongroom auth passkey add --name phone",
        )
    unseen = (settings.state / INITIAL_FILE).exists()
    first = "; the first passphrase waits: strongroom auth passphrase --show-initial" if unseen else ""
    return ok(f"by {' or '.join(ways)}; {facts}{first}")


def _no_way_in(patient: Patient, *, is_off: bool) -> Finding:
    means = "the sign-in page lets nobody in; tokens, and strongroom auth approve, work all the same"
    if is_off:
        return fail(
            "the passphrase is switched off, and no passkey is for this address",
            means,
            "strongroom auth passphrase --on, or set STRONGROOM_PUBLIC_URL as it was",
        )
    if running.server(patient.settings.state) is None:
        return ok("no passphrase yet: the next start of the server makes one")
    todo = "strongroom auth passphrase --generate"
    return warn("there is no passphrase and no passkey, although the server runs", means, todo)


def _alive(database: db.Database, patient: Patient) -> str:
    now = patient.clock.now()
    alive = [grant for grant in Grants(database, patient.clock).all() if grant.is_alive(now)]
    tokens = sum(grant.client_id is None for grant in alive)
    own = sum(one.created is not None for one in Clients(database, patient.clock, patient.settings).all())
    came = f"{counted(own, 'client')} came or {'was' if own == 1 else 'were'} added"
    return f"alive: {counted(tokens, 'token')}, {counted(len(alive) - tokens, 'sign-in')}; {came}"


def audit_log(patient: Patient) -> Finding:
    """The audit log takes lines."""
    try:
        Audit(patient.settings.state, patient.clock).try_out()
    except OSError as error:
        return fail(
            f"the audit log cannot be written ({error.strerror or type(error).__name__})",
            "sign-ins, revocations and refusals leave no trace; nothing else is held up",
            f"see that {FILE_NAME} and {TRAFFIC_NAME} in {patient.settings.state} are files of ours, and that there is room",
        )
    return ok("it takes lines; strongroom auth log shows them")


def state_files(patient: Patient) -> Finding:
    """What the state holds is for its owner alone, file by file, and no link (attack 85)."""
    links, opened = [], []
    for path in _private_files(patient.settings.state):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            links.append(path.name)
        elif mode & 0o077:
            opened.append(path.name)
    if links:
        return fail(
            f"{', '.join(links)} in the state is a link",
            "it is not written through, so what belongs there is lost, or the server does not start",
            "remove the link; if the file it names is ours, put it in its place",
        )
    if opened:
        return fail(
            f"others may read {', '.join(opened)} in the state",
            "who reads them can learn who may come in, and guess at the passphrase",
            f"chmod 600 {' '.join(str(patient.settings.state / name) for name in opened)}",
        )
    return ok("each is for its owner alone")


def _private_files(state: Path) -> list[Path]:
    if not state.is_dir():
        return []
    return [path for path in sorted(state.iterdir()) if path.name.startswith(_OURS)]
