"""The tables of permission. Times are seconds since 1970, UTC; secrets are there as hashes only.

A grant is what the owner gave and can take back; a token is one of the strings that stand for it: a static one, or the
access and refresh tokens of an OAuth grant. `folders` holds one folder a line, nothing means the whole vault. `sign_in`
holds how the owner is known (the passphrase's argon2id hash, whether it is switched off).
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
        """
        ALTER TABLE grant_ ADD COLUMN folders TEXT NOT NULL DEFAULT '';
        CREATE TABLE client (
            id TEXT PRIMARY KEY,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            domain TEXT,
            redirect_uris TEXT NOT NULL,
            created INTEGER NOT NULL,
            last_used INTEGER,
            disabled INTEGER
        );
        CREATE TABLE pending (
            hash BLOB PRIMARY KEY,
            cookie_hash BLOB NOT NULL,
            approve_code_hash BLOB NOT NULL UNIQUE,
            client_id TEXT NOT NULL,
            client_kind TEXT NOT NULL,
            client_name TEXT NOT NULL,
            client_domain TEXT,
            redirect_uri TEXT NOT NULL,
            state TEXT,
            challenge TEXT NOT NULL,
            scopes TEXT NOT NULL,
            resource TEXT NOT NULL,
            address TEXT,
            share TEXT NOT NULL,
            signed_in INTEGER,
            decision TEXT,
            created INTEGER NOT NULL,
            expires INTEGER NOT NULL,
            used INTEGER
        );
        CREATE INDEX pending_share ON pending (share);
        CREATE TABLE code (
            hash BLOB PRIMARY KEY,
            grant_id TEXT NOT NULL REFERENCES grant_ (id) ON DELETE CASCADE,
            client_id TEXT NOT NULL,
            challenge TEXT NOT NULL,
            redirect_uri TEXT NOT NULL,
            expires INTEGER NOT NULL,
            used INTEGER
        );
        CREATE TABLE throttle (
            key TEXT PRIMARY KEY,
            fails INTEGER NOT NULL,
            first INTEGER NOT NULL,
            until INTEGER NOT NULL
        );
        CREATE TABLE sign_in (k TEXT PRIMARY KEY, v TEXT NOT NULL);
        CREATE TABLE passkey (
            id BLOB PRIMARY KEY,
            name TEXT NOT NULL,
            public_key BLOB NOT NULL,
            sign_count INTEGER NOT NULL,
            rp_id TEXT NOT NULL,
            created INTEGER NOT NULL,
            last_used INTEGER
        );
        CREATE UNIQUE INDEX passkey_name ON passkey (name);
        CREATE TABLE passkey_code (
            hash BLOB PRIMARY KEY,
            name TEXT NOT NULL,
            expires INTEGER NOT NULL,
            wrong INTEGER NOT NULL
        );
        CREATE TABLE passkey_challenge (
            hash BLOB PRIMARY KEY,
            purpose TEXT NOT NULL,
            bound BLOB NOT NULL,
            name TEXT NOT NULL,
            expires INTEGER NOT NULL
        )
        """,
    ),
)
"""`epoch` goes up with every revocation; a running server watches it."""
