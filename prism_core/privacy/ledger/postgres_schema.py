"""The ledger's tables in PostgreSQL, their guards, and the role that may only add rows.

The statements are for whoever owns the database (`prism ledger init`). The program itself works
with a role that may read and insert. UPDATE, DELETE and TRUNCATE are refused twice: the role has no
right to them, and triggers refuse them to everybody, the owner too.
"""

from __future__ import annotations

import re

from prism_core.errors import LedgerError
from prism_core.privacy.ledger.store import CHAIN, COLUMNS, KNOWN_STATES, MOVES, VERSION

SCHEMA = "prism_ledger"
ROLE = "prism_writer"
"""Name of the role, unless another one is given."""

TABLES = (*COLUMNS, "chain")

_KINDS = {
    "epsilon": "double precision",
    "delta": "double precision",
    "rho": "double precision",
    "asset": "bigint",
    "charge": "bigint",
    "row": "bigint",
}
_REFERS = {"asset": "assets", "charge": "charges"}
_MORE = {
    "assets": ("UNIQUE (name)",),
    "states": (f"CHECK (state IN {KNOWN_STATES})",),
    "chain": ("UNIQUE (kind, row)",),
}

# Types of triggers as the catalogue counts them: row 1, before 2, insert 4, delete 8, update 16,
# truncate 32.
_EDIT, _EMPTY, INSERT = 27, 34, 7

BODIES = {
    "refuse": """
BEGIN
    RAISE EXCEPTION 'the ledger is append-only';
END
""",
    # Numbers have no gaps, so that a missing row shows.
    "in_order": f"""
DECLARE
    last bigint;
BEGIN
    EXECUTE format('SELECT COALESCE(MAX(id), 0) FROM {SCHEMA}.%I', TG_TABLE_NAME) INTO last;
    IF NEW.id IS DISTINCT FROM last + 1 THEN
        RAISE EXCEPTION 'the ledger is append-only';
    END IF;
    RETURN NEW;
END
""",
    "states_follow": f"""
DECLARE
    last text;
BEGIN
    SELECT state INTO last FROM {SCHEMA}.states
        WHERE charge = NEW.charge ORDER BY id DESC LIMIT 1;
    IF COALESCE(last, 'new') || '>' || NEW.state NOT IN
        {MOVES} THEN
        RAISE EXCEPTION 'a closed charge stands';
    END IF;
    RETURN NEW;
END
""",
}
"""By name of the function its text, as the catalogue gives it back."""


def guards() -> dict[tuple[str, str], tuple[int, str]]:
    """By table and name of every trigger its type in the catalogue and its function."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for table in TABLES:
        found[table, "no_edit"] = (_EDIT, "refuse")
        found[table, "no_truncate"] = (_EMPTY, "refuse")
        found[table, "in_order"] = (INSERT, "in_order")
    found["states", "states_follow"] = (INSERT, "states_follow")
    return found


_WHEN = {
    _EDIT: "BEFORE UPDATE OR DELETE ON {} FOR EACH ROW",
    _EMPTY: "BEFORE TRUNCATE ON {} FOR EACH STATEMENT",
    INSERT: "BEFORE INSERT ON {} FOR EACH ROW",
}


def statements(role: str = ROLE) -> tuple[str, ...]:
    """What makes the tables and guards and gives the role its rights; run again it changes nothing.

    Args:
        role: the login of the program. It is made without a password where it is not there.

    Raises:
        LedgerError: when the name is none.
    """
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", role):
        raise LedgerError(
            "The role must be a name of small letters, digits and underscores, at most 63, that "
            "does not begin with a digit.",
            field="role",
        )
    return (
        f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}",
        f"CREATE TABLE IF NOT EXISTS {SCHEMA}.meta (version integer NOT NULL)",
        *(_table(name) for name in TABLES),
        *(_function(name, body) for name, body in BODIES.items()),
        *(line for key, guard in guards().items() for line in _trigger(*key, *guard)),
        f"INSERT INTO {SCHEMA}.meta (version) SELECT {VERSION} "
        f"WHERE NOT EXISTS (SELECT 1 FROM {SCHEMA}.meta)",
        f"DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{role}') THEN "
        f"CREATE ROLE {role} LOGIN; END IF; END $$",
        f"REVOKE ALL ON SCHEMA {SCHEMA} FROM PUBLIC",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM PUBLIC, {role}",
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO {role}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {SCHEMA} TO {role}",
        f"GRANT INSERT ON {', '.join(f'{SCHEMA}.{name}' for name in TABLES)}, "
        # To seal a ledger that is carried elsewhere.
        f"{SCHEMA}.meta TO {role}",
    )


def script(role: str = ROLE) -> str:
    """The statements as a file for `psql`, in one transaction."""
    lines = "\n".join(f"{statement};" for statement in statements(role))
    return f"BEGIN;\n{lines}\nCOMMIT;\n"


def _table(name: str) -> str:
    columns = CHAIN if name == "chain" else COLUMNS[name]
    parts = ["id bigint PRIMARY KEY"]
    for column in columns[1:]:
        refers = f" REFERENCES {SCHEMA}.{_REFERS[column]} (id)" if column in _REFERS else ""
        parts.append(f"{column} {_KINDS.get(column, 'text')} NOT NULL{refers}")
    parts += _MORE.get(name, ())
    return f"CREATE TABLE IF NOT EXISTS {SCHEMA}.{name} ({', '.join(parts)})"


def _function(name: str, body: str) -> str:
    # A search path of its own: a table of the same name elsewhere is not looked at.
    return (
        f"CREATE OR REPLACE FUNCTION {SCHEMA}.{name}() RETURNS trigger LANGUAGE plpgsql "
        f"SET search_path = pg_catalog, pg_temp AS $guard${body}$guard$"
    )


def _trigger(table: str, name: str, kind: int, function: str) -> tuple[str, str, str]:
    where = f"{SCHEMA}.{table}"
    return (
        f"DROP TRIGGER IF EXISTS {name} ON {where}",
        f"CREATE TRIGGER {name} {_WHEN[kind].format(where)} EXECUTE FUNCTION {SCHEMA}.{function}()",
        # ALWAYS: also in a session that takes itself for a replica.
        f"ALTER TABLE {where} ENABLE ALWAYS TRIGGER {name}",
    )
