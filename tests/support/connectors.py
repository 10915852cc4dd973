"""The clients that people connect with, as far as they differ (auth.md 4.1): a row each, for `oauth_client.Connection`."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.support.oauth_client import Connector

CLAUDE: Final = Connector(
    "Claude",
    "https://claude.ai/api/mcp/auth_callback",
    document="https://claude.ai/oauth/mcp-oauth-client-metadata",
    finds="suffixed",
    scope="vault:read vault:write offline_access",
)
CLAUDE_REGISTERED: Final = replace(CLAUDE, document=None, registration={"scope": "vault:read vault:write"})
CLAUDE_CODE: Final = Connector(
    "Claude Code (strongroom)",
    "http://localhost:54212/callback",
    document="https://claude.ai/oauth/claude-code-client-metadata",
)
CHATGPT: Final = Connector(
    "ChatGPT",
    "https://chatgpt.com/connector_platform_oauth_redirect",
    document="https://chatgpt.com/oauth/client.json",
)
CODEX: Final = Connector("Codex", "http://127.0.0.1:1455/callback", resource="absent")
VS_CODE: Final = Connector(
    "Visual Studio Code",
    "http://127.0.0.1:33418/",
    (
        "https://insiders.vscode.dev/redirect",
        "https://vscode.dev/redirect",
        "http://127.0.0.1/",
        "http://127.0.0.1:33418/",
    ),
    resource="slash",
    registration={
        "client_uri": "https://code.visualstudio.com",
        "grant_types": [
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:device_code",
        ],
        "application_type": "native",
    },
)
CURSOR: Final = Connector(
    "Cursor",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    (
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ),
)
GEMINI: Final = Connector("Gemini CLI MCP Client", "http://localhost:7777/oauth/callback", finds="root")
INSPECTOR: Final = Connector(
    "MCP Inspector", "http://127.0.0.1:6276/oauth/callback", is_modern=True, more={"prompt": "consent"}
)
COPILOT_CLI: Final = Connector("GitHub Copilot CLI", "http://127.0.0.1:40001/", ("http://127.0.0.1:40000/",))

ROWS: Final = {
    "Claude": CLAUDE,
    "Claude, claude.com": replace(CLAUDE, redirect_uri="https://claude.com/api/mcp/auth_callback"),
    "Claude, registered": CLAUDE_REGISTERED,
    "Claude Code": CLAUDE_CODE,
    "Claude Code, 127.0.0.1": replace(CLAUDE_CODE, redirect_uri="http://127.0.0.1:3118/callback", is_modern=True),
    "Claude Code, registered": replace(CLAUDE_CODE, document=None),
    "Claude Code in the desktop app": replace(CLAUDE_CODE, redirect_uri="claude://claude.ai/mcp-auth-callback/sdk"),
    "ChatGPT": CHATGPT,
    "ChatGPT, a document for each connector": replace(
        CHATGPT,
        document="https://chatgpt.com/oauth/Hx3_v-9k/client.json",
        redirect_uri="https://chatgpt.com/connector/oauth/Hx3_v-9k",
    ),
    "ChatGPT, registered": replace(CHATGPT, document=None, redirect_uri="https://chatgpt.com/connector/oauth/a1B2c3D4"),
    "Codex": CODEX,
    "Codex, its document": replace(
        CODEX,
        document="https://chatgpt.com/oauth/codex/client.json",
        redirect_uri="http://127.0.0.1:1457/callback/7f3a",
        resource="listed",
    ),
    "VS Code": VS_CODE,
    "VS Code, its document": replace(VS_CODE, document="https://vscode.dev/oauth/client-metadata.json"),
    "VS Code, its port is busy": replace(VS_CODE, redirect_uri="http://127.0.0.1:49731/"),
    "VS Code in a browser": replace(VS_CODE, redirect_uri="https://vscode.dev/redirect", is_modern=True),
    "Cursor": CURSOR,
    "Cursor's agents": replace(CURSOR, redirect_uri="https://www.cursor.com/agents/mcp/oauth/callback"),
    "Cursor, its loopback": replace(CURSOR, redirect_uri="http://localhost:8787/callback"),
    "Cursor, an older one": Connector("Cursor", "cursor://anysphere.cursor-retrieval/oauth/user-notes/callback"),
    "Gemini CLI": GEMINI,
    "Qwen Code": replace(GEMINI, name="Qwen Code MCP Client", redirect_uri="http://localhost:7788/oauth/callback"),
    "Zed": Connector("Zed", "http://127.0.0.1:51234/callback", document="https://zed.dev/oauth/client-metadata.json"),
    "Inspector": INSPECTOR,
    "Inspector's page": replace(INSPECTOR, redirect_uri="http://localhost:6274/oauth/callback"),
    "mcp-remote": Connector("MCP CLI Proxy", "http://127.0.0.1:3334/oauth/callback"),
    "Copilot CLI": COPILOT_CLI,
    "Perplexity": Connector("Perplexity", "https://www.perplexity.ai/rest/connections/oauth_callback"),
    "of 2025-03-26, which guesses": Connector(
        "An old client", "http://127.0.0.1:9000/callback", finds="guess", scope=""
    ),
}
"""Each as it comes to a server that takes documents, unless it says that it registers itself."""
