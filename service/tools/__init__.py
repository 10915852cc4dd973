"""What an MCP client sees. A tool parses, calls and shapes; it holds no logic."""
