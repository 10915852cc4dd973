"""The tables of permission, laid out so that signing in with OAuth joins later without a migration by hand.

A grant is what the owner gave and can take back; a token is one of the strings that stand for it. Today each grant has
one static token; an OAuth grant will have access and refresh tokens, and fills the columns that are empty now
(`client_id`, `resource`, `redirect_uri`, `gen`, `parent`, `rotated`, ...). Codes, clients and pending approvals come as
further steps. Times are seconds since 1970, UTC.
"""

from __future__ import annotations

from typing import Final

from service.store.db import Schema

SCHEMA: Final = Schema(
    "auth",
    (
        """
        CREATE TABLE auth_meta (k TEXT PRIMARY KEY, v INTEGER NOT NULL);
        INSERT INTO auth_meta VALUES ('epoch', 1);
        CREATE TABLE grant_ (
            id TEXT PRIMARY KEY,
            kind TEXT NOT NULL,
            label TEXT NOT NULL,
            client_id TEXT,
            scopes TEXT NOT NULL,
            resource TEXT,
            redirect_uri TEXT,
            created INTEGER NOT NULL,
            last_used INTEGER,
            last_ip TEXT,
            expires INTEGER,
            revoked INTEGER,
            reason TEXT
        );
        CREATE UNIQUE INDEX grant_label ON grant_ (label) WHERE revoked IS NULL AND kind = 'static';
        CREATE TABLE token (
            hash BLOB PRIMARY KEY,
            kind TEXT NOT NULL,
            grant_id TEXT NOT NULL REFERENCES grant_ (id) ON DELETE CASCADE,
            gen INTEGER NOT NULL DEFAULT 0,
            parent BLOB,
            scopes TEXT NOT NULL,
            created INTEGER NOT NULL,
            expires INTEGER,
            used_at INTEGER,
            last_used INTEGER,
            rotated INTEGER,
            revoked INTEGER
        );
        CREATE INDEX token_grant ON token (grant_id);
        CREATE INDEX token_parent ON token (parent)
        """,
    ),
)
"""`epoch` goes up with every revocation; a running server watches it."""
