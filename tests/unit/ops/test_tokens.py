"""`strongroom tokens`, typed by a person or a script."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner, Result

from ops.commands import strongroom
from service.auth.asked import Asked, Client
from service.auth.audit import Audit
from service.auth.grants import Grants
from service.auth.pending import Approvals
from service.auth.tables import SCHEMA
from service.auth.tokens import digest
from service.clock import SystemClock
from service.errors import BadArgument, Conflict, GrantNotFound, NotFound
from service.store.db import Database
from tests.support.rooms import settings_for


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings = settings_for(tmp_path)
    monkeypatch.setenv("STRONGROOM_VAULT", str(settings.vault))
    monkeypatch.setenv("STRONGROOM_STATE", str(settings.state))
    settings.state.chmod(0o700)
    return settings.state


def typed(*words: str) -> Result:
    return CliRunner().invoke(strongroom, ["tokens", *words])


def test_a_token_is_made_listed_and_revoked(state: Path) -> None:
    """house.md: `--json` prints id and token; `tokens list`; `tokens revoke ID`."""
    made = json.loads(typed("create", "--name", "laptop", "--json").stdout)
    typed("create", "--name", "guest", "--read-only", "--days", "3")
    settings = settings_for(state.parent)
    grants = Grants(Database(state, [SCHEMA]), SystemClock(settings.zone))
    found = grants.find(digest(made["token"]))
    assert found is not None
    assert found.id == made["id"]
    listed = json.loads(typed("list", "--json").stdout)
    assert [(row["name"], row["scopes"], row["state"]) for row in listed] == [
        ("laptop", ["vault:read", "vault:write"], "alive"),
        ("guest", ["vault:read"], "alive"),
    ]
    assert "token" not in listed[0]
    assert typed("revoke", made["id"]).exit_code == 0
    assert grants.find(digest(made["token"])) is None
    assert [row["name"] for row in json.loads(typed("list", "--json").stdout)] == ["guest"]
    everything = json.loads(typed("list", "--all", "--json").stdout)
    assert [row["state"] for row in everything] == ["revoked", "alive"]
    assert [row["name"] for row in json.loads(typed("revoke", "--all", "--json").stdout)] == ["guest"]


def test_a_token_is_alone_on_stdout_so_that_a_script_can_take_it(state: Path) -> None:
    """output.py: facts go to stdout, sentences about them to stderr."""
    result = typed("create", "--name", "laptop")
    assert result.stdout.startswith("srs_")
    assert result.stdout.count("\n") == 1
    assert "only time" in result.stderr


@pytest.mark.parametrize(
    "words",
    [["revoke"], ["revoke", "x", "--all"], ["revoke", "x", "--client", "y"], ["revoke", "--client", "y", "--all"]],
)
def test_revoking_says_which_or_all_but_not_both(state: Path, words: list[str]) -> None:
    """Nothing is revoked by accident."""
    assert typed(*words).exit_code == 2


def test_revoking_what_is_not_there_says_how_to_list(state: Path) -> None:
    """style.md, Errors: a sentence with a way out."""
    result = typed("revoke", "nobody")
    assert isinstance(result.exception, GrantNotFound)
    assert "strongroom tokens list" in str(result.exception)


# -- sign-ins and clients ------------------------------------------------------------------------------------------------


def signed_in(
    state: Path,
    grant_id: str,
    client_id: str,
    name: str,
    domain: str | None = None,
    redirect_uri: str = "https://claude.ai/cb",
) -> None:
    """What the doors of signing in leave behind: a client, its grant, a request that waits, a code and a token."""
    with closing(Database(state, [SCHEMA])) as database, database.transaction() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO client (id, kind, name, domain, redirect_uris, created) VALUES (?, 'dcr', ?, ?, '[]', 1)",
            (client_id, name, domain),
        )
        connection.execute(
            "INSERT INTO grant_ (id, kind, label, client_id, redirect_uri, scopes, folders, created, last_used, last_ip) "
            "VALUES (?, 'oauth', ?, ?, ?, 'vault:read', ?, 1, 2, '192.0.2.7')",
            (grant_id, name, client_id, redirect_uri, "Projects\nWork"),
        )
        connection.execute(
            "INSERT INTO code (hash, grant_id, client_id, challenge, redirect_uri, expires) VALUES (?, ?, ?, '', '', 9)",
            (grant_id.encode(), grant_id, client_id),
        )
        connection.execute(
            "INSERT INTO token (hash, kind, grant_id, scopes, created) VALUES (?, 'r', ?, 'vault:read', 1)",
            (digest(f"srr_{grant_id * 7}"), grant_id),
        )

    asked = Asked(Client(client_id, "dcr", name, domain, ()), "https://a.example/cb", None, "", frozenset(), "")
    with closing(Database(state, [SCHEMA])) as database:
        Approvals(database, SystemClock(ZoneInfo("UTC"))).open(asked)


def left(state: Path) -> dict[str, int]:
    """How many of each are left that could still become access."""
    counts = {
        "grants": "SELECT count(*) FROM grant_ WHERE revoked IS NULL",
        "codes": "SELECT count(*) FROM code WHERE used IS NULL",
        "pending": "SELECT count(*) FROM pending",
        "clients": "SELECT count(*) FROM client WHERE disabled IS NULL",
    }
    with closing(Database(state, [SCHEMA])) as database:
        return {what: database.connection().execute(sql).fetchone()[0] for what, sql in counts.items()}


def test_sign_ins_stand_in_the_same_list_as_tokens(state: Path) -> None:
    """Issue 5: id, kind, client and whether verified, scopes, folders, created, last used, address, live streams."""
    typed("create", "--name", "laptop", "--folder", "Projects/", "--folder", "Work")
    signed_in(state, "aaaaa2", "c1", "Claude", "claude.ai")
    signed_in(state, "bbbbb3", "c2", "Claude")
    rows = {row["id"]: row for row in json.loads(typed("list", "--json").stdout)}
    assert [row["folders"] for row in rows.values()] == [["Projects", "Work"]] * 3
    (laptop,) = (row for row in rows.values() if row["kind"] == "static")
    assert (laptop["client"], laptop["verified"], laptop["address"]) == (None, None, None)
    claude, other = rows["aaaaa2"], rows["bbbbb3"]
    assert (claude["client_name"], claude["domain"], claude["verified"]) == ("Claude", "claude.ai", True)
    assert (other["client"], other["domain"], other["verified"]) == ("c2", None, False)
    signed_in(state, "ccccc4", "c1", "Claude", "claude.ai", "http://localhost:4711/callback")
    (local,) = (row for row in json.loads(typed("list", "--json").stdout) if row["id"] == "ccccc4")
    assert (local["domain"], local["verified"]) == (None, False), "on a device any program can say that it is this one"
    assert (claude["address"], claude["last_used"]) == ("192.0.2.7", "1970-01-01T00:00:02+00:00")
    assert {row["streams"] for row in rows.values()} == {None}, "nobody serves, so nobody knows"
    shown = typed("list")
    assert "Claude (claude.ai)" in shown.stdout
    assert "Claude (unverified)" in shown.stdout
    assert "no service answers" in shown.stderr


def test_a_client_is_revoked_with_all_it_has_and_switched_off(state: Path) -> None:
    """auth.md 7.7, attack 78: pendings and codes of it die, another's stay."""
    signed_in(state, "aaaaa2", "c1", "Claude", "claude.ai")
    signed_in(state, "aaaaa3", "c1", "Claude", "claude.ai")
    signed_in(state, "bbbbb3", "c2", "Other")
    ended = json.loads(typed("revoke", "--client", "claude.ai", "--json").stdout)
    assert [row["id"] for row in ended] == ["aaaaa2", "aaaaa3"]
    assert left(state) == {"grants": 1, "codes": 1, "pending": 1, "clients": 1}


def test_everything_is_revoked_at_once_and_clients_stay_known(state: Path) -> None:
    """Issue 5: `--all`; claude-code#4760: a client that was forgotten keeps its dead id for ever."""
    typed("create", "--name", "laptop")
    signed_in(state, "aaaaa2", "c1", "Claude")
    assert len(json.loads(typed("revoke", "--all", "--json").stdout)) == 2
    assert left(state) == {"grants": 0, "codes": 0, "pending": 0, "clients": 1}
    assert typed("revoke", "--all").exit_code == 0


def test_a_token_that_was_found_somewhere_is_revoked_and_never_repeated(state: Path) -> None:
    """auth.md 7.7: an access or refresh token stands for its grant; attack 87: not in errors."""
    token = json.loads(typed("create", "--name", "laptop", "--json").stdout)["token"]
    signed_in(state, "aaaaa2", "c1", "Claude")
    unknown = typed("revoke", "srs_" + "x" * 43)
    assert isinstance(unknown.exception, NotFound)
    assert "xxx" not in str(unknown.exception)
    assert typed("revoke", token).exit_code == 0
    assert typed("revoke", "srr_" + "aaaaa2" * 7).exit_code == 0
    assert left(state)["grants"] == 0
    assert token not in (state / "audit.jsonl").read_text(encoding="utf-8")


def test_what_is_not_there_is_answered_with_what_comes_near(state: Path) -> None:
    """Issue 5: unknown gives an exit code and the nearest."""
    typed("create", "--name", "laptop")
    signed_in(state, "aaaaa2", "c1", "Claude", "claude.ai")
    assert "'laptop'" in str(typed("revoke", "laptpo").exception)
    missing = typed("revoke", "--client", "claud.ai").exception
    assert isinstance(missing, GrantNotFound)
    assert "Did you mean" in str(missing)
    assert "'claude.ai'" in str(missing)
    assert "strongroom auth clients" in str(missing)


def test_a_name_that_several_have_revokes_none_of_them(state: Path) -> None:
    """Nothing is revoked by accident, and no other than was meant."""
    signed_in(state, "aaaaa2", "c1", "Claude")
    signed_in(state, "bbbbb3", "c2", "Claude")
    for words in (("revoke", "Claude"), ("revoke", "--client", "claude")):
        assert isinstance(typed(*words).exception, Conflict)
    assert left(state)["grants"] == 2


@pytest.mark.parametrize("folder", ["", "/", "../out", "."])
def test_a_folder_that_means_nothing_or_everything_makes_no_token(state: Path, folder: str) -> None:
    """A slip of the hand must not widen a limit."""
    assert isinstance(typed("create", "--name", "laptop", "--folder", folder).exception, BadArgument)
    assert json.loads(typed("list", "--json").stdout) == []


def test_what_the_commands_do_stands_in_the_audit_log(state: Path) -> None:
    """auth.md 7.9: grant and revoke, with ids and without secrets."""
    made = json.loads(typed("create", "--name", "laptop", "--json").stdout)
    typed("revoke", made["id"])
    lines = list(Audit(state, SystemClock(settings_for(state.parent).zone)).lines())
    assert [(line["event"], line.get("grant") or line.get("grants")) for line in lines] == [
        ("token_created", made["id"]),
        ("revoke", made["id"]),
    ]


def test_a_token_for_a_folder_that_is_not_there_is_made_and_says_so(state: Path) -> None:
    """It may be made later, so nothing is refused; stdout is the token alone, for scripts."""
    (settings_for(state.parent).vault / "Recipes").mkdir()
    made = typed("create", "--name", "cook", "--folder", "Recipes", "--folder", "Recepies/Soups/")
    assert made.exit_code == 0
    assert len(made.stdout.split()) == 1
    assert "no folder 'Recepies/Soups'," in made.stderr
    assert "no folder" not in typed("create", "--name", "baker", "--folder", "Recipes").stderr
    settings_for(state.parent).vault.joinpath("Recipes").rmdir()
    settings_for(state.parent).vault.rmdir()
    assert typed("create", "--name", "early", "--folder", "Recipes").exit_code == 0
