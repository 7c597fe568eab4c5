"""`weft config`."""

from __future__ import annotations

from weft.cli.options import Session, verb
from weft.cli.output import print_json, print_table
from weft.config import flatten, shown


@verb()
def config(session: Session) -> None:
    """Print every setting and where it came from."""
    settings = session.settings()
    known = {name: shown(value) if isinstance(value, str) else value for name, value in flatten(settings).items()}
    rows = [(name, value, settings.origins.get(name, "default")) for name, value in known.items()]
    if session.as_json:
        print_json({name: {"value": value, "origin": origin} for name, value, origin in rows})
    else:
        print_table(("setting", "value", "origin"), [(name, repr(value), origin) for name, value, origin in rows])
