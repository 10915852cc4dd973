"""Who may call: tokens, grants, scopes, and the guard before the endpoint."""
