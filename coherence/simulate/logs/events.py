"""Reads `kubectl get events -o json`: its events, when each pod got a node and when its container started."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.simulate.logs.tables import unix
from coherence.simulate.telemetry.bounded_files import whole_text


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
    except (KeyError, TypeError) as error:
        place = Place(path.name, 1, 1, 1, 1)
        raise InputError([Problem(place, "no list of events", "write `kubectl get events -o json`")]) from error
    return items


def starts_of(items: list[dict[str, Any]]) -> tuple[PodStart, ...]:
    """Returns the same from the events themselves.  Of a reason that a pod has twice, the first counts."""
    bound: dict[str, int] = {}
    started: dict[str, int] = {}
    for item in items:
        about, moment = item.get("involvedObject", {}), moment_of(item)
        table = {"Scheduled": bound, "Started": started}.get(item.get("reason", ""))
        if table is not None and about.get("kind") == "Pod" and moment is not None:
            table[about["name"]] = min(moment, table.get(about["name"], moment))
    return tuple(PodStart(pod, at, started.get(pod)) for pod, at in sorted(bound.items(), key=lambda one: one[::-1]))


def moment_of(item: Mapping[str, Any]) -> int | None:
    """Returns when an event first happened (Unix seconds); those of the scheduler have an eventTime alone."""
    for text in (item.get("firstTimestamp"), item.get("eventTime"), item.get("metadata", {}).get("creationTimestamp")):
        if text:
            return unix(text)
    return None
