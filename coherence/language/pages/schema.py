"""Makes the JSON Schema of the design language from the same declarations that read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coherence.base.records import Key, Record
from coherence.language.design import Design
from coherence.language.pages.reference import key_words


def design_schema() -> dict[str, Any]:
    """Returns the JSON Schema (draft 2020-12) of a whole design."""
    definitions: dict[str, Any] = {}
    root = _record(Design, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "coherence design",
        "description": "One declarative design: control loops and the infrastructure they act on.",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _record(cls: type[Record], definitions: dict[str, Any]) -> dict[str, Any]:
    fields = cls.keys
    rest = next((f for f in fields.values() if f.rest), None)
    properties = {name: _worded(f, definitions) for name, f in fields.items() if not f.rest}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = [name for name, f in fields.items() if f.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = _worded(rest, definitions) if rest else False
    return schema


def _worded(key: Key, definitions: dict[str, Any]) -> dict[str, Any]:
    return {**_resolved(key.kind.schema, definitions), "description": key_words(key)}


def _resolved(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, Mapping):
        if "record" in schema:
            cls = schema["record"]
            if cls.__name__ not in definitions:
                definitions[cls.__name__] = {}
                definitions[cls.__name__] = {
                    "description": (cls.__doc__ or "").split("\n")[0],
                    **_record(cls, definitions),
                }
            return {"$ref": f"#/$defs/{cls.__name__}"}
        return {key: _resolved(value, definitions) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_resolved(value, definitions) for value in schema]
    return schema
