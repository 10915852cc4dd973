"""The doors of signing in: documents for clients to find us by, and the OAuth endpoints (auth.md 7.1).

Here is HTTP only: reading a request, asking `service.auth` off the event loop, wording the answer. What is right and wrong
is decided in `service.auth`. `Desk` is what they all work with; `routes` says which path leads where.
"""
