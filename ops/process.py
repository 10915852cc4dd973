"""Ending a process that served."""

from __future__ import annotations

import os
import sys
import threading
from typing import NoReturn

from ops import exits


def leave() -> NoReturn:
    """End now, although a thread may be stuck in a tool or waiting for a line of stdin: Python would wait for it.

    Everything that matters was finished by whoever calls this.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]
    if others:
        os._exit(exits.OK)
    sys.exit(exits.OK)
