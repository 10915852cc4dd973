"""Every secret of a run in the container, looked for in its log, its state, the history, and the layers of the image.

The issue; auth.md attack line 84. The longer run, with everything that can go wrong in it: tests/wire/test_secrets_kept.py.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.container.conftest import Start
from tests.support import scan
from tests.support.appliance import Folders
from tests.support.connectors import CODEX
from tests.support.engine import Engine
from tests.support.internet import Internet
from tests.support.oauth_client import Connection, Owner
from tests.support.sign_in import PUBLIC_URL
from tests.wire.test_secrets_kept import Kept, issued, sign_in, use


def test_no_secret_of_a_run_is_in_the_log_the_state_the_history_or_the_image(
    start: Start, folders: Folders, engine: Engine, image: str, tmp_path: Path
) -> None:
    """attack 84: and what the engine knows of the container (its words, environment and labels) holds none either."""
    kept = Kept()
    appliance = start(env={"STRONGROOM_PUBLIC_URL": PUBLIC_URL, "STRONGROOM_LOG_LEVEL": "debug"}).wait_until_healthy()
    kept.note("static token", appliance.token())
    first = kept.note("first passphrase", appliance.cli("auth", "passphrase", "--show-initial").strip())
    kept.note("passkey code", appliance.cli_json("auth", "passkey", "add", "--name", "phone")["code"])
    internet = Internet(PUBLIC_URL, appliance.port)
    use(sign_in(Owner(internet, first), kept, Connection(CODEX, internet)), kept)
    kept.note("made passphrase", appliance.cli("auth", "passphrase", "--generate").strip())
    appliance.cli("commit")
    known = json.dumps(appliance.wrapped.attrs).encode()
    appliance.stop()
    told = [("the log", appliance.log().encode()), ("what the engine knows", known)]
    history = [("objects", folders.git_bytes("cat-file", "--batch-all-objects", "--batch"))]
    assert issued(scan.leaks(kept, told, scan.files(folders.state, folders.vault), history)) == []
    archive = tmp_path / "image.tar"
    engine.run("save", "--output", str(archive), image)
    assert scan.leaks(kept, scan.image_layers(archive), is_plain=True) == []
