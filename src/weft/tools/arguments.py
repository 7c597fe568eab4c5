"""Arguments of tool calls as models write them: any case style, numbers as strings, null for missing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from weft.engine.input_checks import show_value
from weft.errors import InputError


def read_arguments(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], *, aliases: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """
    Return arguments under the names and in the types of a JSON schema, with defaults filled in.

    `aliases` maps other names to names of the schema. Case and underscores are ignored. Raises `InputError`, whose hint
    shows a valid call.
    """
    known = {_plain(name): name for name in schema["properties"]}
    known |= {_plain(other): name for other, name in (aliases or {}).items()}
    values: dict[str, Any] = {}
    for spelling, value in arguments.items():
        name = known.get(_plain(spelling))
        if name is None:
            raise InputError(f"unknown argument {show_value(spelling)}", hint=f"use {_list(schema)}")
        if value is None:
            continue
        read = read_value(spelling, value, schema["properties"][name])
        if values.setdefault(name, read) != read:
            raise InputError(f"two different values of argument {name}", hint=f"pass {name} once")
    if missing := [name for name in schema.get("required", ()) if name not in values]:
        raise InputError(f"missing argument {missing[0]}", hint=f"use {_list(schema)}")
    defaults = {name: field["default"] for name, field in schema["properties"].items() if "default" in field}
    return {**defaults, **values}


def read_value(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a value in the type of a schema. Raises `InputError`."""
    match schema.get("type"):
        case "string":
            return _read_text(name, value, schema)
        case "boolean":
            known = {"true": True, "false": False}.get(value.strip().lower()) if isinstance(value, str) else value
            if not isinstance(known, bool):
                raise refusal(name, value, "true or false")
            return known
        case "integer" | "number" as kind:
            return _read_number(name, value, schema, is_whole=kind == "integer")
        case "array":
            return _read_list(name, value, schema)
        case _:
            return _read_object(name, value, schema)


def refusal(name: str, value: Any, wanted: str) -> InputError:
    """Return the error for an invalid argument."""
    return InputError(f"invalid {name}: {show_value(value)}", hint=f"pass {name} as {wanted}")


def _read_text(name: str, value: Any, schema: Mapping[str, Any]) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if not isinstance(value, str) or (least and not value.strip()):
        raise refusal(name, value, "a non-empty string" if least else "a string")
    if most is not None and len(value) > most:
        raise refusal(name, value, f"a string of at most {most:,} characters")
    return value


def _read_number(name: str, value: Any, schema: Mapping[str, Any], *, is_whole: bool) -> float:
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    wanted = f"a {'whole ' if is_whole else ''}number from {least:g} to {most:g}"
    try:
        number = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not least <= number <= most or (is_whole and not number.is_integer()):
        raise refusal(name, value, wanted)
    return int(number) if is_whole else number


def _read_list(name: str, value: Any, schema: Mapping[str, Any]) -> list[Any]:
    if isinstance(value, str) and value.lstrip().startswith("["):  # some models write lists as JSON strings
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise refusal(name, value, "a list") from None
    items = schema.get("items", {})
    if not isinstance(value, list):
        if items.get("type") != "string":
            raise refusal(name, value, "a list")
        value = [value]
    most = schema.get("maxItems")
    if most is not None and len(value) > most:
        raise InputError(f"too many items in {name}: {len(value):,}", hint=f"pass at most {most:,} per call")
    return [read_value(f"{name}[{place}]", item, items) for place, item in enumerate(value)]


def _read_object(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    if "properties" not in schema:
        return value
    if not isinstance(value, dict):
        raise refusal(name, value, f"an object with {_list(schema)}")
    known = {key: item for key, item in value.items() if _plain(key) in map(_plain, schema["properties"])}
    return read_arguments(known, schema)


def _plain(name: Any) -> str:
    return re.sub(r"[\s_-]", "", str(name)).casefold()


def _list(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    names = [name if name in required else f"{name} (optional)" for name in schema["properties"]]
    return ", ".join(names) or "no arguments"
