"""The least that the SDK can do: a server with one tool that says what it was told. `python tests/bench/bare.py [http [json]]`.

Over HTTP it has the same loop, parser and way of answering as ours, and a log as quiet, so that only what we do stands between the two.
"""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("bare", log_level="WARNING")


@server.tool(structured_output=False)
async def echo(query: str) -> str:
    """Say it again."""
    return query


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        import uvicorn

        app = server.streamable_http_app(stateless_http=True, json_response=sys.argv[2:] == ["json"])
        uvicorn.run(app, port=0, http="httptools", ws="none", access_log=False, log_level="info")
    else:
        server.run("stdio")
