"""`tests.conformance.serving` with the fixtures that the suite wants to find.

Run it as a module: `python -m tests.conformance.serving_everything serve`.
"""

from __future__ import annotations

from service import app
from tests.conformance import everything, serving

if __name__ == "__main__":
    app.StrongroomServer = everything.Everything
    serving.main()
