"""Policies of the descheduler: loops that evict members, and the longest time that a job may run.

Where an overlay states `places`, RemoveDuplicates is a loop for each workload with several members: it evicts those
that are more on a node than their share of the nodes that take them; where fewer than two do, it evicts none.
LowNodeUtilization fills the emptiest nodes and HighNodeUtilization empties them; both stand as loops on how many nodes
are occupied.  PodLifeTime is a timer of each job.  What other strategies look at stands in no manifest, and is listed.

SOURCE: descheduler 0.34 README and pkg/framework/plugins (removeduplicates: ceil(pods / nodes that take them by taints,
selector and required affinity), none where these are fewer than two); v1alpha1: strategies.  Default of the interval in
the part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from coherence.base import units
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._node_rules import able_places
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar, Table

KIND = "DeschedulerPolicy"
GROUPS = ("descheduler",)
IN_CONFIG_MAP = "DeschedulerPolicy"
VARIANTS = True
SPELLING = {"after": "maxPodLifeTimeSeconds"}
PART = "descheduler"
NODES = "nodes"
EXTENSIONS = ("deschedule", "balance")
DUPLICATES, LIFE, LOW, HIGH = "RemoveDuplicates", "PodLifeTime", "LowNodeUtilization", "HighNodeUtilization"
JOBS = ("Job", "CronJob", "VolcanoJob")
STAYING = ("Deployment", "StatefulSet", "Rollout")
ONE_NODE = "fewer than two nodes take its pods: it evicts none of them"
NO_PLACES = "on which nodes members lie stands in no manifest: an overlay states `places`"
SELECTED = ("namespaces", "labelSelector", "ownerKinds", "states", "conditions", "exitCodes")
Strategies = Mapping[
    str, tuple[FieldView, str, FieldView | None]
]  # name -> where it is enabled, its key, what it is given


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the loops on the nodes."""
    strategies = _strategies(manifest)
    thresholds = {name: strategies[name] for name in (LOW, HIGH) if name in strategies}
    for name, (view, key, arguments) in thresholds.items():
        if len(thresholds) < 2:
            view.remark(key, "how full nodes are stands in no manifest")
        elif arguments is not None:
            _on_nodes(name, arguments, sketch)
    for name, (view, key, _) in strategies.items():
        if name not in (DUPLICATES, LIFE, LOW, HIGH):
            view.remark(key, f"{units.shorten(name)} looks at what no manifest says")


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the loops and timers of each workload."""
    strategies = _strategies(manifest)
    if LIFE in strategies:
        _lives(*strategies[LIFE], sketch)
    if DUPLICATES in strategies:
        view, key, _ = strategies[DUPLICATES]
        _duplicates(view, key, sketch)


def _strategies(manifest: Manifest) -> Strategies:
    """Returns what is enabled, in either version of the policy."""
    top = manifest.top
    old = top.table("strategies")
    if old is not None:
        tables = [(name, old.table(name)) for name in old.node.entries]
        return {
            name: (old, name, view.table("params"))
            for name, view in tables
            if view is not None and (on := view.scalar("enabled")) is not None and on.text == "true"
        }
    return dict(_of_profiles(top))


def _of_profiles(top: FieldView) -> Iterator[tuple[str, tuple[FieldView, str, FieldView | None]]]:
    for profile in top.tables("profiles"):
        profile.use("name")
        given: dict[str, FieldView | None] = {}
        for plugin in profile.tables("pluginConfig"):
            name = plugin.scalar("name")
            given |= {name.text: plugin.table("args")} if name is not None else {}
        plugins = profile.table("plugins")
        for key in EXTENSIONS if plugins is not None else ():
            extension = plugins.table(key) if plugins is not None else None
            for name in extension.scalars("enabled") if extension is not None else ():
                assert extension is not None
                yield name.text, (extension, "enabled", given.get(name.text))


def _on_nodes(name: str, arguments: FieldView, sketch: Sketch) -> None:
    """Adds a loop on how many nodes are occupied, for the first resource whose threshold is written."""
    owner = arguments.table("nodeResourceUtilizationThresholds") or arguments  # the former in v1alpha1
    low, most = owner.table("thresholds"), owner.table("targetThresholds")
    resource = next(iter(low.node.entries), "") if low is not None else ""
    least = low.percent(resource) if low is not None and resource else None
    if least is None:
        return
    sketch.mention(NODES, least.place, "nodes of the cluster")
    empty = f"{NODES}.emptiest_{resource.replace('-', '_')} < {least.text}"
    full = most.percent(resource) if most is not None and resource in most else None
    above = f"{NODES}.fullest_{resource.replace('-', '_')} > {full.text} and " if full is not None else ""
    actuation: dict[str, Node | None] = {
        "signal": respelled(least, f"{NODES}.occupied"),
        "law": respelled(least, "step"),
        "by": respelled(least, "1" if name == LOW else "-1"),
    }
    loop: dict[str, Node | None] = {
        "uses": respelled(least, PART),
        "trigger": respelled(least, f"{above if name == LOW else ''}{empty}"),
        "actuation": entry(least.place, actuation),
    }
    sketch.put("loops", sketch.names.fresh(name), least.place, loop)


def _lives(view: FieldView, key: str, arguments: FieldView | None, sketch: Sketch) -> None:
    """Adds how long the pod of each job may live."""
    nested = arguments.table("podLifeTime") if arguments is not None else None  # v1alpha1
    owner = nested or arguments
    longest = owner.seconds("maxPodLifeTimeSeconds") if owner is not None else None
    if owner is None or longest is None:
        view.remark(key, "no time is written")
        return
    if any(name in owner for name in SELECTED):
        owner.remark("maxPodLifeTimeSeconds", "which pods it looks at is selected further")
        return
    for thing in _things(JOBS, sketch):
        sketch.put_timer(f"{thing}_life", during=f"{thing}.run", after=longest, then=f"evict {thing}")


def _things(kinds: tuple[str, ...], sketch: Sketch) -> list[str]:
    """Returns the workloads of some kinds whose pods are known."""
    known = {pods.thing for pods in sketch.pods}
    named = [thing for things in sketch.names.things.values() for thing in things]
    return [thing.name for thing in named if thing.kind in kinds and thing.name in known]


def _number_of_nodes(thing: str, sketch: Sketch) -> str:
    """Returns how many nodes take the pods of a workload; empty where an overlay states none, or several groups."""
    pods = next((pods.template for pods in sketch.pods if pods.thing == thing and pods.template is not None), None)
    stated = sketch.places.entries if sketch.places else {}
    every = {name: place for name, place in stated.items() if isinstance(place, Table)}
    able = every if pods is None else able_places(pods, sketch)
    groups = [name for name, place in (able or {}).items() if "count" in place]
    if not every or able is None or (groups and len(able) > 1):
        return ""
    return f"{groups[0]}.count" if groups else str(len(able))


def _duplicates(view: FieldView, key: str, sketch: Sketch) -> None:
    """Adds a loop for each workload that may have several members, where it finds two nodes or more."""
    stated = Scalar(DUPLICATES, view.place(key))
    if not sketch.places:
        view.remark(key, NO_PLACES)
        return
    for thing in _things(STAYING, sketch):
        component = sketch.get("components", thing)
        copies = component.get("copies") if component is not None else None
        if component is None or not isinstance(copies, Scalar) or integer(copies) in (0, 1):
            continue
        nodes = _number_of_nodes(thing, sketch)
        if nodes in ("", "0", "1"):
            view.remark(key, f"{thing}: {ONE_NODE if nodes else NO_PLACES}")
            continue
        if "returns" not in component:
            sketch.state(thing, "returns", respelled(stated, "always"))
        loop: dict[str, Node | None] = {
            "uses": respelled(stated, PART),
            "trigger": respelled(stated, f"count of {thing} by node > ceil({thing}.copies / {nodes})"),
            "actuation": entry(stated.place, {"evict": respelled(stated, thing)}),
        }
        sketch.put("loops", sketch.names.fresh(f"{thing}_duplicates"), stated.place, loop)
