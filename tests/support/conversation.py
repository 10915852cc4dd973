"""Speaking MCP in raw HTTP, in both protocol eras: what is sent and what came back stay in sight."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx2

from tests.support.internet import Internet

LEGACY_VERSION: Final = "2025-11-25"
MODERN_VERSION: Final = "2026-07-28"


class Conversation:
    """A client's side of it.

    Args:
        name: as it calls itself.
        token: gives the access token as it is now; None without one.
        is_modern: whether it speaks 2026-07-28.
    """

    def __init__(self, internet: Internet, name: str, token: Callable[[], str | None], *, is_modern: bool) -> None:
        self._internet, self._name, self._token, self._is_modern = internet, name, token, is_modern
        self._is_greeted = False

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Greet the server if that was not done yet, ask it, and give the result.

        Raises:
            AssertionError: it answered with an error.
        """
        if not self._is_greeted:
            self._is_greeted = True
            self._greet()
        return self._result(method, params)

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; its result, which may say `isError`."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def post(self, message: Mapping[str, Any], more: Mapping[str, str] | None = None) -> httpx2.Response:
        """Send one message as it is."""
        told = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        token = self._token()
        told |= {} if token is None else {"Authorization": f"Bearer {token}"}
        method, params = str(message["method"]), dict(message.get("params", {}))
        if self._is_modern:
            told |= {"MCP-Protocol-Version": MODERN_VERSION, "Mcp-Method": method}
            told |= {"Mcp-Name": str(params["name"])} if "name" in params else {}
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN_VERSION,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": self._name, "version": "1"},
            }
        elif method != "initialize":
            told["MCP-Protocol-Version"] = LEGACY_VERSION
        body = json.dumps({**message, "params": params}).encode()
        return self._internet.ask("POST", f"{self._internet.base}/mcp", {**told, **(more or {})}, body=body)

    def _greet(self) -> None:
        if self._is_modern:
            assert MODERN_VERSION in self._result("server/discover", {})["supportedVersions"]
            return
        about = {"name": self._name, "version": "1"}
        hello = {"protocolVersion": LEGACY_VERSION, "capabilities": {}, "clientInfo": about}
        assert self._result("initialize", hello)["protocolVersion"] == LEGACY_VERSION
        assert self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code == 202

    def _result(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        answer = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": dict(params)})
        assert answer.status_code == 200, f"{method}: {answer.status_code} {answer.text}"
        said = answered(answer)
        assert "error" not in said, f"{method}: {said['error']}"
        result: dict[str, Any] = said["result"]
        return result


def answered(answer: httpx2.Response) -> dict[str, Any]:
    """The JSON-RPC answer in a body that is JSON or an event stream."""
    if not answer.headers["content-type"].startswith("text/event-stream"):
        only: dict[str, Any] = answer.json()
        return only
    found = [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:") and line[5:].strip()]
    last: dict[str, Any] = found[-1]
    return last
