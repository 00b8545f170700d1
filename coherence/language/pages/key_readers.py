"""Says which engines read a key: another value of it changes their answers about some design of the tests.

The table beside this file is measured by `python -m tests.perturbation.readers`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from coherence.base.records import Key, Record

ENGINES = ("verify", "loops", "simulate", "causal", "minimums")
NOT_SHOWN = "not shown"
FILE = Path(__file__).with_name("key_readers.json")


def key_name(record: type[Record], key: Key) -> str:
    """Returns a key with the record that declares it: `Call.per_try`."""
    return f"{record.__name__}.{key.name}"


def readers(*names: str) -> tuple[str, ...]:
    """Returns the engines that read one of these keys, in their order; none for keys that are for people."""
    reading = {engine for name in names for engine in _measured().get(name, ())}
    return tuple(engine for engine in ENGINES if engine in reading)


def render_readers(names: Iterable[str], *, for_people: bool) -> str:
    """Returns the engines that read a key, or one inside, as text: `not shown` where no design tells; "" of words."""
    return "" if for_people else ", ".join(readers(*names)) or NOT_SHOWN


@cache
def _measured() -> dict[str, tuple[str, ...]]:
    table = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: tuple(engines.split()) for name, engines in table.items()}
