"""Names of the language for Kubernetes names: one name per thing, the same thing wherever it is mentioned."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherence.base.outside_text import masked

RESERVED = ("clients", "metrics", "time")
LONGEST = 60
_MANAGED = re.compile(r"^prometheus\.googleapis\.com[|/]([^|/]+)[|/](?:gauge|counter|histogram|summary|unknown)\b")
_SERIES = re.compile(r"[A-Za-z_:][A-Za-z0-9_:./|-]*")


def sanitised(text: str) -> str:
    """`vllm:num_requests` and `Vllm-num.requests` -> `vllm_num_requests`; begins with a letter, shows no secret.

    A series of Google's managed Prometheus has the name that it has elsewhere.
    """
    plain = re.sub(r"[^a-z0-9]+", "_", masked(_MANAGED.sub(r"\1", text)).lower()).strip("_")[:LONGEST].strip("_")
    if not plain:
        return "unnamed"
    return plain if plain[0].isalpha() else f"x_{plain}"


class Thing:
    """A workload or host: kind and namespace are empty where no mention has said them yet."""

    __slots__ = ("kind", "name", "namespace", "raw")

    def __init__(self, raw: str, kind: str, namespace: str, name: str) -> None:
        self.raw, self.kind, self.namespace, self.name = raw, kind, namespace, name


class Names:
    """Gives each thing, loop, limit and timer a name of its own."""

    def __init__(self) -> None:
        self.things: dict[str, list[Thing]] = {}
        self.series: dict[str, str] = {}
        self.taken: set[str] = set(RESERVED)

    def thing(self, raw: str, namespace: str, kind: str = "") -> str:
        """Returns the name of a workload or host.  A mention without kind or namespace means the first that fits."""
        for known in self.things.setdefault(raw, []):
            if agree(known.kind, kind) and agree(known.namespace, namespace):
                known.kind, known.namespace = known.kind or kind, known.namespace or namespace
                return known.name
        choices = (raw, f"{raw}_{namespace}", f"{raw}_{kind}", f"{raw}_{kind}_{namespace}")
        thing = Thing(raw, kind, namespace, self.fresh(*choices))
        self.things[raw].append(thing)
        return thing.name

    def host(self, raw: str, namespace: str) -> str:
        """The name of a host; `web.prod.svc.cluster.local` and, in prod, `web` are the same.

        SOURCE: Istio documentation, Destination.host: short names are completed with the rule's namespace.
        """
        short, _, rest = raw.partition(".")
        parts = rest.split(".")
        if not rest:
            return self.thing(raw, namespace)
        return self.thing(short, parts[0]) if parts[1:2] == ["svc"] else self.thing(raw, "")

    def metric(self, raw: str) -> str:
        """Returns the name of a metric series; `:` and `_` are one, as monitoring adapters rename the first to the
        second.
        """
        key = sanitised(raw) if _SERIES.fullmatch(raw) else raw
        if key not in self.series:
            used = set(self.series.values())
            self.series[key] = next(name for name in _numbered((sanitised(raw),)) if name not in used)
        return self.series[key]

    def fresh(self, *choices: str) -> str:
        """Returns the first of the choices that is not taken, numbered if need be."""
        names = tuple(dict.fromkeys(sanitised(choice) for choice in choices))
        fresh = next(name for name in _numbered(names) if name not in self.taken)
        self.taken.add(fresh)
        return fresh

    def policy(self, raw: str, suffix: str, *hints: str) -> str:
        """Returns a name for a loop: its own where that says what it is, else with a suffix."""
        name = sanitised(raw)
        own = any(hint in name for hint in (suffix, *hints))
        return self.fresh(*((name,) if own else ()), f"{name}_{suffix}")


def agree(one: str, other: str) -> bool:
    """Equal, or one of them not said."""
    return one == other or not one or not other


def _numbered(names: tuple[str, ...]) -> Iterator[str]:
    yield from names
    number = 2
    while True:
        yield f"{names[0]}_{number}"
        number += 1
