"""The appliance itself: MCP server, vault, history, search, tokens, scheduler. Import downwards; see docs/explanation."""
