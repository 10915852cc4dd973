"""Once an hour, away from any request: clear away what is over (`service.auth.purge`, `Clients.prune`)."""

from __future__ import annotations

import anyio
import structlog

from service.auth import purge
from service.errors import AppError
from service.web.oauth.desk import Desk

_log = structlog.get_logger()


async def keep_house(desk: Desk, every_s: float = purge.EVERY_S) -> None:
    """Run for the life of the server; what fails is tried again in its turn."""
    while True:
        try:
            ended = await desk.do(lambda: purge.purge(desk.grants.database, desk.clock))
            forgotten = await desk.do(desk.clients.prune)
            if ended or forgotten:
                _log.info("sign_ins.cleared", grants_ended=ended, clients_forgotten=forgotten)
        except AppError as error:
            _log.warning("sign_ins.not_cleared", error=error.code)
        await anyio.sleep(every_s)
