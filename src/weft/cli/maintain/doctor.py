"""Command `weft doctor`."""

from __future__ import annotations

from weft.cli.options import Session, verb
from weft.cli.output import print_json
from weft.cli.terminal import say


@verb()
def doctor(session: Session) -> int:
    """Check the installation and the store. Exits with 1 if there is a problem."""
    from weft.admin.doctor import diagnose

    findings = diagnose(session.settings())
    if session.as_json:
        print_json([{"what": f.what, "state": f.state, "detail": f.detail, "hint": f.hint} for f in findings])
    else:
        colours = {"ok": "green", "warning": "yellow", "problem": "red", "absent": None}
        for finding in findings:
            line = f" {finding.what}: {finding.detail}" + (f"  ({finding.hint})" if finding.hint else "")
            say(line, label=f"{finding.state:8}", colour=colours.get(finding.state))
    return 1 if any(finding.state == "problem" for finding in findings) else 0
