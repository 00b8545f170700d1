"""Says which engines read a key: in some design of the tests another value of it gives other answers.

The table beside this file is measured by `python -m tests.perturbation.readers`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from coherence.base.records import Key, Record

ENGINES = ("verify", "loops", "simulate", "causal", "minimums")
NOT_SHOWN = "not shown"
FILE = Path(__file__).with_name("key_readers.json")


def key_name(record: type[Record], key: Key) -> str:
    """Returns a key with the record that declares it: `Call.per_try`."""
    return f"{record.__name__}.{key.name}"


def readers(name: str) -> tuple[str, ...]:
    """Returns the engines that read a key, in their order; none for keys that are for people."""
    return _measured().get(name, ())


def render_readers(name: str, *, for_people: bool) -> str:
    """Returns the engines that read a key as text: `not shown` where no design of the tests tells; "" of words."""
    return "" if for_people else ", ".join(readers(name)) or NOT_SHOWN


@cache
def _measured() -> dict[str, tuple[str, ...]]:
    table = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: tuple(engines.split()) for name, engines in table.items()}
