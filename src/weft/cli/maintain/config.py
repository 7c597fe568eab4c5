"""Command `weft config`."""

from __future__ import annotations

from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table


@verb()
def config(session: Session) -> None:
    """Print every setting and its origin."""
    from weft.config import in_force, shown

    known = in_force(session.settings()).items()
    rows = [(name, shown(value) if isinstance(value, str) else value, origin) for name, (value, origin) in known]
    if session.as_json:
        print_json({name: {"value": value, "origin": origin} for name, value, origin in rows})
    else:
        print_table(("setting", "value", "origin"), [(name, repr(value), origin) for name, value, origin in rows])
