"""Policies of the descheduler: loops that evict members, and the longest time that a job may run.

Where an overlay states `places`, RemoveDuplicates is a loop for each workload with several members: it evicts those
that are more on a node than their share of the nodes that take them; where fewer than two do, it evicts none.
LowNodeUtilization fills the emptiest nodes and HighNodeUtilization empties them; both stand as loops on how many nodes
are occupied.  PodLifeTime is a timer of each job.  RemovePodsViolatingInterPodAntiAffinity is a loop for each workload
whose pods must keep away from each other: it evicts those that are more than one in a domain.  Pods that a plugin does
not look at, or that its evictor protects, have none of these.  Other strategies are listed with what they act on: pods
that have failed or restarted often, labels and taints that have changed, a spread by its skew.

SOURCE: descheduler 0.36 README and pkg/framework/plugins (removeduplicates: ceil(pods / nodes that take them by taints,
selector and required affinity), none where these are fewer than two; nodeutilization: isNodeBelowThreshold,
isNodeAboveThreshold; podlifetime; removepodsviolatinginterpodantiaffinity: required terms); v1alpha1: strategies.
Default of the interval in the part.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherence.base import units
from coherence.importers._evictable_pods import Plugin, spared
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import sanitised
from coherence.importers._node_rules import able_places
from coherence.importers._quantities import exact, integer, respelled, value_of
from coherence.importers._sketch import Pods, Sketch, entry
from coherence.importers._spread import domains_apart
from coherence.language.document import Node, Scalar, Table

KIND = "DeschedulerPolicy"
GROUPS = ("descheduler",)
IN_CONFIG_MAP = "DeschedulerPolicy"
VARIANTS = True
SPELLING = {"after": "maxPodLifeTimeSeconds"}
PART, BY_USE, BY_AGE = "descheduler", "descheduler_node_utilization", "descheduler_pod_life_time"
NODES = "nodes"
EXTENSIONS, EVICTOR = ("deschedule", "balance"), "DefaultEvictor"
DUPLICATES, LIFE, LOW, HIGH = "RemoveDuplicates", "PodLifeTime", "LowNodeUtilization", "HighNodeUtilization"
APART = "RemovePodsViolatingInterPodAntiAffinity"
JOBS = ("Job", "CronJob", "VolcanoJob")
STAYING = ("Deployment", "StatefulSet", "Rollout")
ONE_NODE = "fewer than two nodes take its pods: it evicts none of them"
UNSEEN = "looks at what no manifest says"
OTHERS = {
    "RemovePodsViolatingTopologySpreadConstraint": "evicts members by how far their numbers in domains are apart, "
    "which is not modelled",
    "RemovePodsViolatingNodeAffinity": "evicts members of nodes whose labels have changed: they do not change here",
    "RemovePodsViolatingNodeTaints": "evicts members of nodes whose taints have changed: they do not change here",
    "RemoveFailedPods": "evicts pods that have failed, and none that run",
    "RemovePodsHavingTooManyRestarts": "evicts pods that were restarted often: how often stands in no manifest",
}
NO_PLACES = "on which nodes members lie stands in no manifest: an overlay states `places`"
SELECTED = ("conditions", "exitCodes")
STATES, RUNS = ("states", "podStatusPhases"), "Running"
SHARE = re.compile(rf"{NODES}\.(\w+)")
STATED = "{share} %"
BELOW_MEAN, ABOVE_MEAN = "max(nodes.mean_{key} - {share} %, 0 %)", "min(nodes.mean_{key} + {share} %, 100 %)"
OF_NODES = {
    "numberOfNodes": "it does nothing where so many nodes are that empty, or fewer",
    "evictableNamespaces": "which pods it evicts is selected further",
    "evictionLimits": "at most so many pods of a node go in one round",
    "evictionModes": "which pods it evicts is selected further",
    "metricsUtilization": "the use that is measured counts in place of what pods request",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the loops on the nodes."""
    by_use: dict[str, list[Plugin]] = {LOW: [], HIGH: []}
    for plugin in _plugins(manifest):
        if plugin.name in by_use:
            by_use[plugin.name].append(plugin)
        elif plugin.name not in (DUPLICATES, LIFE, APART):
            what = OTHERS.get(plugin.name, UNSEEN)
            plugin.view.remark(plugin.key, f"{units.shorten(plugin.name)} {what}")
    for plugin in (plugin for plugins in by_use.values() for plugin in plugins):
        if not all(by_use.values()):
            plugin.view.remark(plugin.key, "how full nodes are stands in no manifest")
        elif plugin.arguments is not None:
            _on_nodes(plugin, sketch)


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the loops and timers of each workload."""
    for plugin in _plugins(manifest):
        if plugin.name == LIFE:
            _lives(plugin, sketch)
        elif plugin.name == DUPLICATES:
            _duplicates(plugin, sketch)
        elif plugin.name == APART:
            _apart(plugin, sketch)


def _plugins(manifest: Manifest) -> Iterator[Plugin]:
    """Yields what is enabled, in either version of the policy."""
    top = manifest.top
    selector = top.scalar("nodeSelector")
    selects = selector is not None and selector.text != ""
    old = top.table("strategies")
    if old is None:
        yield from _of_profiles(top, selects=selects)
        return
    for name in old.node.entries:
        view = old.table(name)
        if view is not None and (on := view.scalar("enabled")) is not None and on.text == "true":
            yield Plugin(name, old, name, view.table("params"), top, selects)


def _of_profiles(top: FieldView, *, selects: bool) -> Iterator[Plugin]:
    for profile in top.tables("profiles"):
        profile.use("name")
        given: dict[str, FieldView | None] = {}
        for config in profile.tables("pluginConfig"):
            name = config.scalar("name")
            given |= {name.text: config.table("args")} if name is not None else {}
        plugins = profile.table("plugins")
        for key in EXTENSIONS if plugins is not None else ():
            extension = plugins.table(key) if plugins is not None else None
            for name in extension.scalars("enabled") if extension is not None else ():
                assert extension is not None
                yield Plugin(name.text, extension, "enabled", given.get(name.text), given.get(EVICTOR), selects)


def _on_nodes(plugin: Plugin, sketch: Sketch) -> None:
    """Adds a loop on how many nodes are occupied: it acts where one is below all thresholds, and another one is not."""
    owner = plugin.arguments_of("nodeResourceUtilizationThresholds")  # the former in v1alpha1
    low = owner.table("thresholds") if owner is not None else None
    most = owner.table("targetThresholds") if owner is not None and plugin.name == LOW else low
    if owner is None or low is None or not low.node.entries:
        return
    owner.remark_all(OF_NODES)
    about_mean = plugin.name == LOW and (stated := owner.scalar("useDeviationThresholds")) and stated.text == "true"
    least = _compared(low, "emptiest", "<=", BELOW_MEAN if about_mean else STATED)
    above = _compared(most, "fullest", ">", ABOVE_MEAN if about_mean else STATED)
    place = low.node.place
    if not least or not above:
        plugin.view.remark(plugin.key, "it states no thresholds of both kinds")
        return
    sketch.mention(NODES, place, "nodes of the cluster")
    for path in sorted({name for text in (*least, *above) for name in SHARE.findall(text)}):
        sketch.state(NODES, path, Scalar("0 % .. 100 %", place))
    one_above = " or ".join(above) if len(above) == 1 else f"({' or '.join(above)})"
    loop: dict[str, Node | None] = {
        "uses": Scalar(BY_USE, place),
        "trigger": Scalar(" and ".join((*least, one_above)), place),
        "actuation": entry(
            place,
            {
                "signal": Scalar(f"{NODES}.occupied", place),
                "law": Scalar("step", place),
                "by": Scalar("1" if plugin.name == LOW else "-1", place),
            },
        ),
    }
    sketch.put("loops", sketch.names.fresh(plugin.name), place, loop)


def _compared(thresholds: FieldView | None, which: str, sign: str, limit: str) -> list[str]:
    """Returns a comparison of the emptiest or the fullest node for each resource with a threshold."""
    stated = {} if thresholds is None else {key: thresholds.quantity(key) for key in thresholds.node.entries}
    shares = {sanitised(key): exact(value_of(share)) for key, share in stated.items() if share is not None}
    return [f"{NODES}.{which}_{key} {sign} {limit.format(key=key, share=share)}" for key, share in shares.items()]


def _lives(plugin: Plugin, sketch: Sketch) -> None:
    """Adds how long the pod of each job may live."""
    owner = plugin.arguments_of("podLifeTime")  # the former in v1alpha1
    longest = owner.seconds("maxPodLifeTimeSeconds") if owner is not None else None
    if owner is None or longest is None:
        plugin.view.remark(plugin.key, "no time is written")
        return
    if any(name in owner for name in SELECTED):
        owner.remark("maxPodLifeTimeSeconds", "which pods it looks at is selected further")
        return
    states = [state.text for key in STATES for state in owner.scalars(key)]
    if states and RUNS not in states:
        owner.remark("maxPodLifeTimeSeconds", "it looks at no pods that run")
        return
    staying = _things(STAYING, sketch)
    for thing, pods in (staying | _things(JOBS, sketch)).items():
        reason = spared(plugin, "podLifeTime", pods, _copies(thing, sketch))
        if thing in staying and not reason:
            reason = "that its members are evicted at that age is not modelled"
        if reason:
            plugin.view.remark(plugin.key, f"{thing}: {reason}")
        else:
            sketch.put_timer(f"{thing}_life", uses=BY_AGE, during=f"{thing}.run", after=longest, then=f"evict {thing}")


def _things(kinds: tuple[str, ...], sketch: Sketch) -> dict[str, Pods]:
    """Returns the workloads of some kinds with their pods, where these are known."""
    known = {pods.thing: pods for pods in sketch.pods}
    named = [thing for things in sketch.names.things.values() for thing in things if thing.kind in kinds]
    return {thing.name: known[thing.name] for thing in named if thing.name in known}


def _copies(thing: str, sketch: Sketch) -> Scalar | None:
    """Returns how many members a workload states."""
    component = sketch.get("components", thing)
    copies = component.get("copies") if component is not None else None
    return copies if isinstance(copies, Scalar) else None


def _number_of_nodes(pods: Pods, sketch: Sketch) -> str:
    """Returns how many nodes take the pods of a workload; empty where an overlay states none, or several groups."""
    stated = sketch.places.entries if sketch.places else {}
    every = {name: place for name, place in stated.items() if isinstance(place, Table)}
    able = every if pods.template is None else able_places(pods.template, sketch)
    groups = [name for name, place in (able or {}).items() if "count" in place]
    if not every or able is None or (groups and len(able) > 1):
        return ""
    return f"{groups[0]}.count" if groups else str(len(able))


def _duplicates(plugin: Plugin, sketch: Sketch) -> None:
    """Adds a loop for each workload that may have several members, where it finds two nodes or more."""
    view, key = plugin.view, plugin.key
    stated = Scalar(DUPLICATES, view.place(key))
    if not sketch.places:
        view.remark(key, NO_PLACES)
        return
    for thing, pods in _things(STAYING, sketch).items():
        component, copies = sketch.get("components", thing), _copies(thing, sketch)
        if component is None or copies is None or integer(copies) in (0, 1):
            continue
        nodes = _number_of_nodes(pods, sketch)
        few = (ONE_NODE if nodes else NO_PLACES) if nodes in ("", "0", "1") else ""
        if reason := spared(plugin, "removeDuplicates", pods, copies) or few:
            view.remark(key, f"{thing}: {reason}")
            continue
        trigger = f"count of {thing} by node > ceil({thing}.copies / {nodes})"
        _put_evictor(f"{thing}_duplicates", thing, respelled(stated, trigger), sketch)


def _apart(plugin: Plugin, sketch: Sketch) -> None:
    """Adds a loop for each workload whose pods must keep away from each other, and each domain in which they must."""
    view, key = plugin.view, plugin.key
    if not sketch.places:
        view.remark(key, NO_PLACES)
        return
    for thing, pods in _things(STAYING, sketch).items():
        copies = _copies(thing, sketch)
        domains = domains_apart(pods, sketch) if copies is None or integer(copies) not in (0, 1) else []
        reason = spared(plugin, "", pods, copies) if domains else ""
        if reason:
            view.remark(key, f"{thing}: {reason}")
            continue
        for domain in domains:
            trigger = Scalar(f"count of {thing} by {domain} > 1", view.place(key))
            _put_evictor(f"{thing}_apart", thing, trigger, sketch)


def _put_evictor(name: str, thing: str, trigger: Scalar, sketch: Sketch) -> None:
    """Adds a loop that evicts members, which come back where nothing else is said."""
    component = sketch.get("components", thing)
    if component is not None and "returns" not in component:
        sketch.state(thing, "returns", respelled(trigger, "always"))
    loop: dict[str, Node | None] = {
        "uses": respelled(trigger, PART),
        "trigger": trigger,
        "actuation": entry(trigger.place, {"evict": respelled(trigger, thing)}),
    }
    sketch.put("loops", sketch.names.fresh(name), trigger.place, loop)
