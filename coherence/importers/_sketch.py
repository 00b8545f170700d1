"""The design that importers fill in: tables of the language whose values keep their places in the manifests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coherence.base.errors import InternalError
from coherence.base.outside_text import MASK, masked
from coherence.base.places import Place
from coherence.importers._job_queues import JobQueues
from coherence.importers._kubernetes import FieldView
from coherence.importers._monitoring import MetricSources
from coherence.importers._names import Names
from coherence.language import catalogue
from coherence.language.document import Items, Node, Scalar, Table

SECTIONS = ("components", "placement", "jobs", "order", "loops", "calls", "timers", "limits")
Values = Mapping[str, Node | None]


@dataclass(frozen=True)
class Scaling:
    """A loop that writes the replicas of a thing, within these bounds."""

    loop: str
    low: Scalar
    high: Scalar


@dataclass(frozen=True)
class Aim:
    """The one signal that a loop compares with its setpoint; `averaged`: a total divided by the replicas."""

    loop: str
    thing: str
    target: Table
    averaged: bool


@dataclass(frozen=True)
class Container:
    """A container of a pod with what it requests, as plain numbers; `limits`: its own, which few questions read."""

    name: str
    requests: Mapping[str, Scalar]
    limits: FieldView | None


@dataclass(frozen=True)
class Pods:
    """The pods of a thing, by which a selector finds it, what they are made of, and the fields that make them."""

    thing: str
    namespace: str
    labels: Mapping[str, str]
    containers: Sequence[Container] = ()
    template: FieldView | None = None


@dataclass(frozen=True)
class Allowance:
    """What a namespace (empty: any) allows one container, or one pod, to request; `is_least`: not less than that."""

    namespace: str
    per_pod: bool
    resource: str
    amount: Scalar
    is_least: bool


@dataclass(frozen=True)
class Sync:
    """What writes the manifests of a namespace (empty: not said) when they change.

    `heals`: where it is said that what others change is undone; `period`: how often, where that is not at once.
    `ignored`: kind and name (empty: any) of workloads whose replicas others may change; `respects`: a sync for another
    reason does not write them either.  `release`: of Helm, whose workloads alone are written (empty: any).
    """

    namespace: str
    heals: Scalar | None
    period: Scalar | None = None
    ignored: tuple[tuple[str, str], ...] = ()
    respects: bool = False
    release: str = ""


@dataclass(frozen=True)
class Routed:
    """A call that a route makes, with what a policy for the route or its gateway finds it by."""

    route: str
    namespace: str
    gateway: str  # the thing that it is
    backend: str
    call: Table
    states_retry: bool


@dataclass(frozen=True)
class ClusterLimit:
    """A limit of a cluster of a proxy on what that sends to a thing: what it counts, and its other values."""

    thing: str
    name: str
    counted: str | Scalar
    most: Scalar
    full: str
    place: Place
    more: Values


class Sketch:
    """What all manifests together make."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.names = Names()
        self.sections: dict[str, Table] = {name: Table({}, {}, place) for name in SECTIONS if name != "calls"}
        self.calls: list[Table] = []
        self.routed: list[Routed] = []
        self.routers: set[str] = set()  # things that make one of their calls for each request
        self.ways: dict[str, set[str]] = {}  # the clusters of proxies that go to a thing
        self.clusters: dict[str, dict[str, str]] = {}  # of proxies: name -> proxy -> the thing that it is
        self.cluster_limits: list[ClusterLimit] = []
        self.scaled: dict[str, list[Scaling]] = {}
        self.aims: list[Aim] = []
        self.pods: list[Pods] = []
        self.labelled: dict[tuple[str, str], list[Pods]] = {}
        self.syncs: list[Sync] = []
        self.bounds: list[Allowance] = []
        self.telemetry = MetricSources()
        self.queues = JobQueues()
        self.places: Table | None = None  # what an overlay says of nodes
        self.not_modelled: list[tuple[Place, str]] = []
        self._hidden: dict[str, int] = {}

    def hidden(self, text: str) -> str:
        """Returns a name for a text that must not be shown: the same text has the same name."""
        return f"hidden{self._hidden.setdefault(text, len(self._hidden) + 1)}"

    def concealed(self, text: str) -> str:
        """Returns the text with a name in place of what looks like a credential."""
        safe = masked(text)
        return text if safe == text else safe.replace(MASK, self.hidden(text))

    def add_pods(self, pods: Pods) -> None:
        """Adds the pods of a thing, to be found by each of their labels."""
        self.pods.append(pods)
        for label in pods.labels.items():
            self.labelled.setdefault(label, []).append(pods)

    def pods_of(self, thing: str) -> Pods | None:
        """Returns the pods of a thing, where its manifest is known."""
        return next((pods for pods in self.pods if pods.thing == thing), None)

    def put(self, section: str, name: str, place: Place, values: Values) -> None:
        """Adds a thing, loop, timer or limit whose own place is `place`."""
        table = self.sections[section]
        table.entries[name], table.keys[name] = entry(place, values), place

    def state_key(self, section: str, key: str, node: Node) -> None:
        """States a value of a section: a rule of the order of jobs, or where the members of a thing may lie."""
        table = self.sections[section]
        table.entries[key], table.keys[key] = node, node.place

    def get(self, section: str, name: str) -> Table | None:
        """Returns a thing, loop, timer or limit that was added."""
        found = self.sections[section].get(name)
        return found if isinstance(found, Table) else None

    def state(self, thing: str, key: str, node: Node) -> None:
        """States a value of a thing that was added."""
        component = self.get("components", thing)
        if component is not None:
            component.entries[key], component.keys[key] = node, node.place

    def takes(self, thing: str, activity: str) -> Scalar | None:
        """Returns how long an activity of a thing takes, where that is known."""
        component = self.get("components", thing)
        known = component.get("takes") if component is not None else None
        time = known.get(activity) if isinstance(known, Table) else None
        return time if isinstance(time, Scalar) else None

    def add_activity(self, thing: str, activity: str, time: Scalar, *, first: bool = False) -> None:
        """Adds what a thing that was added does and how long that takes, after its other activities or before them."""
        component = self.get("components", thing)
        takes = component.get("takes") if component is not None else None
        known = takes.entries if isinstance(takes, Table) else {}
        place = takes.place if takes is not None else time.place
        values = {activity: time, **known} if first else {**known, activity: time}
        self.state(thing, "takes", entry(place, values))

    def put_limit(
        self, name: str, counted: str | Scalar, most: str | Scalar = "", full: str = "", place: Place | None = None,
        **more: str | Node | None,
    ) -> None:  # fmt: skip
        """Adds a limit: what it counts, at most so many, and what happens when it is full.

        It and its texts stand at a place, else at that of `most`.  Its layer is `runtime` where nothing else is said.
        """
        kind = {key: value for key, value in more.items() if key in ("uses", "layer")} or {"layer": "runtime"}
        values = {**kind, "counts": counted, "at_most": most, **more, "when_full": full}
        where = place or (most.place if isinstance(most, Scalar) else self.place)
        self._put_new("limits", name, where, values)

    def put_timer(
        self, name: str, place: Place | None = None, *, start: str = "", during: str = "", after: Scalar | None = None,
        unless: str = "", then: str = "", **more: str | Node | None,
    ) -> str:  # fmt: skip
        """Adds a timer and returns its name; it and its texts stand at a place, else at that of `after`.

        It runs from an event, `start`, or `during` an activity: from where that starts, unless it ends.
        """
        where = place or (after.place if after is not None else self.place)
        ends = unless or (f"{during} ends" if during else "")
        stated = {**more, "from": start or f"{during} starts", "after": after, "unless": ends, "then": then}
        return self._put_new("timers", name, where, stated)

    def _put_new(self, section: str, name: str, place: Place, values: Mapping[str, str | Node | None]) -> str:
        """Adds a timer or limit under a name of its own, which it returns; values that are texts stand at its place."""
        texts = {key: Scalar(it, place) if isinstance(it, str) else it for key, it in values.items() if it != ""}
        fresh = self.names.fresh(name)
        self.put(section, fresh, place, texts)
        return fresh

    def mention(self, name: str, place: Place, note: str) -> None:
        """Declare a thing that a manifest refers to; its own manifest, if there is one, says the rest."""
        if name in self.names.doubts:
            self.not_modelled.append((place, f"{masked(note)} ({masked(self.names.doubts[name])})"))
        if name not in self.sections["components"]:
            self.put("components", name, place, {"note": Scalar(masked(note), place)})

    def tell_routes_apart(self) -> None:
        """Gives each call of a router a case of its own, where it has several."""
        for router in sorted(self.routers):
            routes = [
                call for call in self.calls if isinstance(ends := call.get("from"), Scalar) and ends.text == router
            ]
            for number, call in enumerate(routes if len(routes) > 1 else (), 1):
                call.entries["case"], call.keys["case"] = Scalar(f"route_{number}", call.place), call.place

    def root(self, system: str) -> Table:
        """Returns the whole design."""
        values: dict[str, Node | None] = {"coherence": Scalar("1", self.place), "system": Scalar(system, self.place)}
        for name in SECTIONS:
            table = self.sections.get(name)
            values[name] = listed(self.calls, self.place) if table is None and self.calls else None
            if table is not None and table.entries:
                values[name] = table
        return entry(self.place, values)


def entry(place: Place, values: Values) -> Table:
    """Returns a mapping of the values that are there; each key stands where its value stands."""
    kept = {key: node for key, node in values.items() if node is not None}
    return Table(dict(kept), {key: node.place for key, node in kept.items()}, place)


def listed(values: Sequence[Node], place: Place) -> Items:
    """Returns a list."""
    return Items(list(values), place)


def default_of(part: str, path: str) -> tuple[Node | None, Place]:
    """Returns the default that a part of models/loops gives for a key, and the place of the parameter."""
    parameters = catalogue.part("loops", part).get("parameters")
    declared = parameters.get(path) if isinstance(parameters, Table) else None
    if not isinstance(parameters, Table) or not isinstance(declared, Table):
        raise InternalError(f"the part {part} has no parameter {path}")
    return declared.get("default"), parameters.key_place(path)


def default_scalar(part: str, path: str) -> Scalar:
    """Returns a default that is one value."""
    default, _ = default_of(part, path)
    if not isinstance(default, Scalar):
        raise InternalError(f"the part {part} has no one default for {path}")
    return default
