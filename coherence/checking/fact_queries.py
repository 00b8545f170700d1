"""Holds what is asked of a server: facts that an overlay can state, and queries for them in PromQL.

SOURCE: Kubernetes source, apimachinery util/rand: the letters of generated names (no vowels, 0, 1, 3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LETTERS = "[bcdfghjklmnpqrstvwxz2456789]"
GENERATED = f"-{LETTERS}{{5}}"
PODS = {  # what follows the name of the object in those of its pods
    "Deployment": f"-{LETTERS}{{1,10}}{GENERATED}",
    "Rollout": f"-{LETTERS}{{1,10}}{GENERATED}",
    "StatefulSet": "-[0-9]+",
    "DaemonSet": GENERATED,
    "ReplicaSet": GENERATED,
    "ReplicationController": GENERATED,
    "Job": GENERATED,
    "CronJob": f"-[0-9]+{GENERATED}",
    "Pod": "",
}


@dataclass(frozen=True)
class OpenQuestion:
    """What is not decided: the codes of the questions, and the names that it is about."""

    codes: tuple[str, ...]
    of: tuple[str, ...]


@dataclass(frozen=True)
class AskedFact:
    """One value that an overlay can state.

    `path` is where it stands (`components`, `web`, `takes`, `load`); that of a call has its two ends.  `unit`: of the
    measured number.  `also`: lines that say what it is used for, each with its path.  `remedy`: what to do where no
    metric tells it.
    """

    kind: str
    path: tuple[str, ...]
    thing: str
    unit: str
    words: str
    also: tuple[tuple[tuple[str, ...], str], ...] = ()
    remedy: str = ""
    asked_by: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Returns the path in one word, as `--query` has it."""
        return ".".join(self.path)


@dataclass(frozen=True)
class FactQuery:
    """One query for a fact.

    `reading`: `samples` (the value of each series is one), `histogram` (buckets of `le`), `over time` (of one series,
    at steps of the window) or `any` (the first two, by the labels).  `scale`: what one of its units is in that of the
    fact.  `of_all`: a query for how many there were, of which those without a value are not in the answer.
    """

    promql: str
    source: str
    reading: str
    scale: str = "1"
    note: str = ""
    of_all: str = ""


@dataclass(frozen=True)
class FactTarget:
    """The object of a manifest that a name of the design stands for; kind and namespace are empty where none is known.

    `window`: seconds.
    """

    raw: str
    kind: str
    namespace: str
    window: int

    @property
    def span(self) -> str:
        """Returns the window of PromQL."""
        return f"{self.window}s"

    @property
    def step(self) -> str:
        """Returns the step of subqueries, of which a window has a thousand at most."""
        return f"{max(15, -(-self.window // 1000))}s"

    @property
    def is_workload(self) -> bool:
        """Decides whether an object makes pods whose names are known."""
        return self.kind in PODS

    def pods(self, *more: str, of: str = "pod") -> str:
        """Returns matchers of its pods; those of a host begin with its name."""
        pattern = escaped(self.raw) + PODS.get(self.kind, "(-.+)?")
        return self.matchers(f'{of}=~"{pattern}"', *more)

    def matchers(self, *more: str, namespace: str = "namespace") -> str:
        """Returns matchers with that of its namespace, where it has one."""
        own = (f"{namespace}={text(self.namespace)}",) if self.namespace else ()
        return ",".join((*own, *more))


def text(value: str) -> str:
    """Returns a string of PromQL."""
    plain = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'


def escaped(value: str) -> str:
    """Returns a value as part of a regular expression in a string of PromQL."""
    return text(re.sub(r"([.+*?()|\[\]{}^$\\])", r"\\\1", value))[1:-1]


__all__ = ["AskedFact", "FactQuery", "FactTarget", "OpenQuestion", "escaped", "text"]
