"""Reads from `kubectl get events -o json` which members got which node, which were evicted by whom, and which ended.

Members are pods whose name is that of their owner (a Deployment, a StatefulSet) with a suffix.  SOURCE: Kubernetes:
`Scheduled` of the scheduler, `Killing` of the kubelet, `TaintManagerEviction`, `Evicted`, `Preempted`; every event of a
descheduler names a pod that it has evicted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from pathlib import Path
from typing import Any

from coherence.base.errors import UsageError
from coherence.simulate.logs.events import items_of, moment_of

SUFFIX = re.compile(r"(-[0-9a-f]{6,10})?-[a-z0-9]{5}$|-[0-9]{1,5}$")  # of a Deployment's pod, or a StatefulSet's
ASSIGNED = re.compile(r"Successfully assigned \S+ to (\S+)")
EVICTIONS = ("TaintManagerEviction", "Evicted", "Preempted", "EvictedByVPA", "EvictionByEvictionAPI")
DESCHEDULER = "descheduler"
CANCELLED, RESTARTED = "Cancelling", "will be restarted"  # words of messages after which a pod stays


class MemberChange(IntEnum):
    """What happened to a member; of one second, in this order, but for what comes after a placement of that second."""

    ENDED = 0
    EVICTED = 1
    PLACED = 2


@dataclass(frozen=True)
class MemberEvent:
    """What happened to a pod at a time (Unix seconds).  `node`: on which it is now or was; `by`: who evicted it."""

    time: int
    change: MemberChange
    pod: str
    node: str
    by: str = ""


def events_file(where: Path) -> Path:
    """Returns the events log that is meant: a file, or the one whose name has `events` in a folder.  UsageError."""
    if where.is_file():
        return where
    logs = sorted(path for path in where.glob("*events*") if path.is_file())
    if len(logs) != 1:
        names = ", ".join(path.name for path in logs) or "none"
        raise UsageError(f"{where} should hold one log of events (kubectl get events -o json), it holds: {names}")
    return logs[0]


def owner_of(pod: str) -> str:
    """Returns the name of what a pod is a member of."""
    return SUFFIX.sub("", pod)


def named_alike(one: str, other: str) -> bool:
    """Decides whether two names differ in nothing but how they join their words."""
    return one.replace("-", "_").lower() == other.replace("-", "_").lower()


def member_events(path: Path, thing: str) -> tuple[MemberEvent, ...]:
    """Returns what happened to the members of a thing, in the order of time.  Raises InputError, UsageError."""
    items = items_of(path)
    owners = dict.fromkeys(owner_of(pod) for pod, _ in _pods(items))
    if not any(named_alike(owner, thing) for owner in owners):
        seen = ", ".join(sorted(owners)) or "none"
        raise UsageError(f"{path.name} tells nothing of '{thing}'; it has pods of: {seen}")
    events = [
        event for pod, item in _pods(items) if named_alike(owner_of(pod), thing) for event in _event(pod, item)
    ]  # fmt: skip
    return tuple(_on_nodes(_ordered(events)))


def _pods(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for item in items:
        about = item.get("involvedObject") or {}
        if about.get("kind") == "Pod" and isinstance(about.get("name"), str):
            yield about["name"], item


def _event(pod: str, item: Mapping[str, Any]) -> Iterator[MemberEvent]:
    time, reason, message = moment_of(item), str(item.get("reason") or ""), str(item.get("message") or "")
    if time is None:
        return
    by = str((item.get("source") or {}).get("component") or item.get("reportingComponent") or "")
    assigned = ASSIGNED.match(message)
    if reason == "Scheduled" and assigned:
        yield MemberEvent(time, MemberChange.PLACED, pod, assigned[1])
    elif (DESCHEDULER in by or reason in EVICTIONS) and not message.startswith(CANCELLED):
        yield MemberEvent(time, MemberChange.EVICTED, pod, "", reason)
    elif reason == "Killing" and RESTARTED not in message:
        yield MemberEvent(time, MemberChange.ENDED, pod, "")


def _ordered(events: Sequence[MemberEvent]) -> list[MemberEvent]:
    """Returns the events in the order of time.

    A log says no parts of a second: within one, places are left before others are taken.  A pod that was not there when
    the second began can only leave after its placement: evicted first, then ended.
    """
    there: set[str] = set()  # placed, and not ended
    ordered: list[MemberEvent] = []
    for _, second in groupby(sorted(events, key=lambda event: event.time), key=lambda event: event.time):
        now = list(second)
        begun = {event.pod for event in now if event.change is MemberChange.PLACED} - there
        before = [event for event in now if event.pod not in begun or event.change is MemberChange.PLACED]
        after = [event for event in now if event.pod in begun and event.change is not MemberChange.PLACED]
        ordered += sorted(before, key=lambda event: (event.change, event.pod))
        ordered += sorted(after, key=lambda event: (-event.change, event.pod))
        for event in ordered[-len(now) :]:
            if event.change is MemberChange.PLACED:
                there.add(event.pod)
            elif event.change is MemberChange.ENDED:
                there.discard(event.pod)
    return ordered


def _on_nodes(events: Sequence[MemberEvent]) -> Iterator[MemberEvent]:
    """Yields the events with the node of each pod; of a pod that was never placed, or has gone, nothing more counts.

    That a pod which was evicted is ended is no event of its own, whichever of the two was noted first.  The next pod of
    a StatefulSet has the name of the one before: it is another one from its placement on.
    """
    on: dict[str, str] = {}
    lives = _lives(events)
    evicted = {life for event, life in zip(events, lives, strict=True) if event.change is MemberChange.EVICTED}
    for event, life in zip(events, lives, strict=True):
        if event.change is MemberChange.ENDED and life in evicted:
            continue
        if event.change is MemberChange.PLACED:
            on[event.pod] = event.node
            yield event
        elif event.pod in on:
            yield MemberEvent(event.time, event.change, event.pod, on.pop(event.pod), event.by)


def _lives(events: Sequence[MemberEvent]) -> list[tuple[str, int]]:
    """Returns for each event the pod, and how often one of its name has been placed until then."""
    placed, lives = Counter[str](), []
    for event in events:
        placed[event.pod] += event.change is MemberChange.PLACED
        lives.append((event.pod, placed[event.pod]))
    return lives


@dataclass(frozen=True)
class Episode:
    """What happened from the first placement until no member was there any more, or the log ended (Unix seconds)."""

    events: tuple[MemberEvent, ...]
    end: int

    @property
    def evictions(self) -> tuple[MemberEvent, ...]:
        """The evictions, in order."""
        return tuple(event for event in self.events if event.change is MemberChange.EVICTED)

    @property
    def watched(self) -> int:
        """Until when members were left to evictors: where the last eviction was followed by ends, until the first."""
        last = self.evictions[-1].time if self.evictions else self.events[0].time
        ends = (e.time for e in self.events if e.change is MemberChange.ENDED and e.time >= last)
        return min(ends, default=self.end)


def episodes(events: Sequence[MemberEvent]) -> tuple[Episode, ...]:
    """Returns the episodes of a log in which something was evicted."""
    ended: list[Episode] = []
    part: list[MemberEvent] = []
    present = 0
    for event in events:
        part.append(event)
        present += 1 if event.change is MemberChange.PLACED else -1
        if not present and event.change is MemberChange.ENDED:
            ended.append(Episode(tuple(part), event.time))
            part = []
    if part:
        ended.append(Episode(tuple(part), part[-1].time))
    return tuple(episode for episode in ended if episode.evictions)
