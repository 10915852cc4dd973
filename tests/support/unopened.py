"""`strongroom serve` and `stdio` that never open what is inside by themselves, and tell at their end what was imported.

Run it as a module: `python -m tests.support.unopened serve|stdio`. The names of all
modules go to the file that STRONGROOM_MODULES_TO names.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ops import __main__, process


def main() -> int:
    told, leave = Path(os.environ.pop("STRONGROOM_MODULES_TO")), process.leave

    def tell_and_leave() -> None:
        told.write_text("\n".join(name for name, module in sys.modules.items() if module is not None), encoding="ascii")
        leave()

    process.leave = tell_and_leave  # type: ignore[assignment]
    from service import starting

    with starting.quickly():
        from service import app
    app.BREATH_S = 3600.0  # type: ignore[misc]
    return __main__.main()


if __name__ == "__main__":
    sys.exit(main())
