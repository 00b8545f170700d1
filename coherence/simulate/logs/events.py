"""Reads `kubectl get events -o json`: its events, when each pod got a node and when its container started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.base.units import shorten
from coherence.simulate.logs.tables import unix
from coherence.simulate.telemetry.bounded_files import whole_text

OBJECTS = ("involvedObject", "metadata", "source")


@dataclass(frozen=True)
class PodStart:
    """Unix seconds at which a pod was given a node, and at which its container started (None: not seen)."""

    pod: str
    bound: int
    started: int | None


def read_starts(path: Path) -> tuple[PodStart, ...]:
    """Returns every pod that was given a node, in that order.  Raises InputError for text that is not such JSON."""
    return starts_of(items_of(path))


def items_of(path: Path) -> list[dict[str, Any]]:
    """Returns the events of a file as they are written.  Raises InputError for text that is not such JSON."""
    try:
        items: list[dict[str, Any]] = json.loads(whole_text(path, lenient=True))["items"]
    except json.JSONDecodeError as error:
        place = Place(path.name, error.lineno, error.colno, error.lineno, error.colno + 1)
        raise InputError([Problem(place, f"not JSON: {error.msg}", "write `kubectl get events -o json`")]) from error
    except (KeyError, TypeError, RecursionError) as error:
        raise InputError([_problem(path, "no list of events")]) from error
    if not isinstance(items, list):
        raise InputError([_problem(path, "no list of events")])
    flaws = [f"event {number}: {flaw}" for number, item in enumerate(items, 1) if (flaw := _flaw(item))]
    if flaws:
        raise InputError([_problem(path, flaw) for flaw in flaws])
    return items


def _problem(path: Path, message: str) -> Problem:
    return Problem(Place(path.name, 1, 1, 1, 1), message, "write `kubectl get events -o json`")


def _flaw(item: object) -> str:
    """Returns why something is no event that can be read; no words where it is one."""
    if not isinstance(item, dict):
        return f"'{shorten(str(item))}' is no object"
    key = next((key for key in OBJECTS if not isinstance(item.get(key) or {}, dict)), None)
    if key is not None:
        return f"its {key} is no object"
    try:
        moment_of(item)
    except (ValueError, AttributeError):
        return "it has no time that can be read, such as 2024-01-13T23:00:26Z"
    return ""


def starts_of(items: list[dict[str, Any]]) -> tuple[PodStart, ...]:
    """Returns the same from the events themselves.  Of a reason that a pod has twice, the first counts."""
    bound: dict[str, int] = {}
    started: dict[str, int] = {}
    for item in items:
        about, moment = item.get("involvedObject") or {}, moment_of(item)
        table = {"Scheduled": bound, "Started": started}.get(item.get("reason", ""))
        if (
            table is not None
            and about.get("kind") == "Pod"
            and isinstance(about.get("name"), str)
            and moment is not None
        ):
            table[about["name"]] = min(moment, table.get(about["name"], moment))
    return tuple(PodStart(pod, at, started.get(pod)) for pod, at in sorted(bound.items(), key=lambda one: one[::-1]))


def moment_of(item: Mapping[str, Any]) -> int | None:
    """Returns when an event first happened (Unix seconds); those of the scheduler have an eventTime alone."""
    for text in (
        item.get("firstTimestamp"),
        item.get("eventTime"),
        (item.get("metadata") or {}).get("creationTimestamp"),
    ):
        if text:
            return unix(text)
    return None
