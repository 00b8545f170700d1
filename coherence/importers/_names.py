"""Names of the language for Kubernetes names: one name per thing, the same thing wherever it is mentioned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from coherence.base.outside_text import masked

RESERVED = ("clients", "metrics", "time")
LONGEST = 60
PROJECT = "compose "  # of a compose file: what it calls a namespace begins so
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
    """A workload or host: kind and namespace are empty where no mention has said them yet.

    `file`: the one in which its name is known, else empty.
    """

    __slots__ = ("file", "kind", "name", "namespace", "raw")

    def __init__(self, raw: str, kind: str, namespace: str, name: str, file: str = "") -> None:
        self.raw, self.kind, self.namespace, self.name, self.file = raw, kind, namespace, name, file


@dataclass(frozen=True)
class NamedWorkload:
    """What a thing stands for: kind and namespace are empty where nothing says them."""

    kind: str
    namespace: str
    name: str


@dataclass
class Addresses:
    """Which workloads stand behind the names that others call, and which run a configuration.

    A namespace is None where it is not known who asks, else as in the manifests (empty: not said), or the project of a
    compose file.  Each list holds namespace and workload; `elsewhere`: the name that an ExternalName stands for;
    `doubts`: why a thing of the design is joined with nothing.
    """

    services: dict[str, list[tuple[str, NamedWorkload]]] = field(default_factory=dict)
    workloads: dict[str, list[tuple[str, NamedWorkload]]] = field(default_factory=dict)
    runners: dict[str, list[tuple[str, NamedWorkload]]] = field(default_factory=dict)
    elsewhere: dict[NamedWorkload, str] = field(default_factory=dict)
    doubts: dict[NamedWorkload, str] = field(default_factory=dict)

    def behind(self, host: str, namespace: str | None) -> NamedWorkload | None:
        """Returns the workload, or the Service, that a host is; None where no manifest has that name, or several do.

        `web`, `web.shop`, `web.shop.svc.cluster.local`; `web-0.web`, a pod of a Service, is that Service.
        """
        meant = self._known_by(*self.followed(host, namespace))
        return next(iter(meant)) if len(meant) == 1 else None

    def followed(self, host: str, namespace: str | None) -> tuple[str, str | None]:
        """Returns the host for which another stands as an ExternalName, at any depth, and the namespace that asks."""
        seen: set[NamedWorkload] = set()
        while len(meant := self._known_by(host, namespace)) == 1 and not meant & seen:
            (service,) = meant
            if service not in self.elsewhere:
                break
            seen |= meant
            host, namespace = self.elsewhere[service], service.namespace
        return host, namespace

    def is_doubtful(self, host: str, namespace: str | None) -> bool:
        """Returns whether several workloads have the name."""
        return len(self._known_by(host, namespace)) > 1

    def _known_by(self, host: str, namespace: str | None) -> set[NamedWorkload]:
        host = host.rstrip(".")
        name, *rest = host.split(".")
        if known := _nearest(self.services.get(host, ()), namespace):
            return known
        if not rest:
            return _nearest(self.workloads.get(name, ()), namespace)
        if rest[1:2] == ["svc"]:
            return self._known_by(name, rest[0])
        if rest[2:3] == ["svc"]:  # a pod of a Service
            return self._known_by(rest[0], rest[1])
        if len(rest) == 1:
            return self._stated(name, rest[0]) or _nearest(self.services.get(rest[0], ()), namespace)
        return self._stated(rest[0], rest[1]) if len(rest) == 2 else set()

    def _stated(self, name: str, namespace: str) -> set[NamedWorkload]:
        """Returns the Service of a namespace that its manifest says."""
        return {of for where, of in self.services.get(name, ()) if where == namespace}


def _nearest(known: Sequence[tuple[str, NamedWorkload]], namespace: str | None) -> set[NamedWorkload]:
    """Returns those of a namespace; without any, those that may lie in it."""
    exact = {of for where, of in known if where == namespace}
    return exact or {of for where, of in known if namespace is None or may_reach(namespace, where)}


def may_reach(one: str, other: str) -> bool:
    """Returns whether two namespaces may be one: those of Kubernetes, where one is not said."""
    return one == other or (agree(one, other) and PROJECT not in one + other)


class Names:
    """Gives each thing, loop, limit and timer a name of its own."""

    def __init__(self) -> None:
        self.addresses = Addresses()
        self.doubts: dict[str, str] = {}
        self.things: dict[str, list[Thing]] = {}
        self.series: dict[str, str] = {}
        self.taken: set[str] = set(RESERVED)

    def thing(self, raw: str, namespace: str, kind: str = "", *, file: str = "") -> str:
        """Returns the name of a workload or host.  A mention without kind or namespace means the first that fits."""
        for known in self.things.setdefault(raw, []):
            if agree(known.kind, kind) and agree(known.namespace, namespace) and agree(known.file, file):
                known.kind, known.namespace = known.kind or kind, known.namespace or namespace
                return known.name
        choices = (raw, f"{raw}_{namespace}", f"{raw}_{kind}", f"{raw}_{kind}_{namespace}")
        thing = Thing(raw, kind, namespace, self.fresh(*choices), file)
        self.things[raw].append(thing)
        return thing.name

    def workload(self, workload: NamedWorkload) -> str:
        """Returns the name of a workload."""
        thing = self.thing(workload.name, workload.namespace, workload.kind)
        if workload in self.addresses.doubts:
            self.doubts[thing] = self.addresses.doubts[workload]
        return thing

    def host(self, raw: str, namespace: str | None) -> str:
        """The name of a host; `web.prod.svc.cluster.local` and, in prod, `web` are the same: the workload behind it.

        SOURCE: Istio documentation, Destination.host: short names are completed with the rule's namespace.
        """
        raw, namespace = self.addresses.followed(raw, namespace)
        workload = self.addresses.behind(raw, namespace)
        if workload is not None:
            return self.workload(workload)
        if self.addresses.is_doubtful(raw, namespace):
            thing = self.thing(raw, "", "host")
            self.doubts[thing] = "several have this name: write its namespace, as in `web.shop.svc.cluster.local`"
            return thing
        namespace = namespace or ""
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
