"""RemoveDuplicates of the descheduler, as its policy is read, against a plain program.

SOURCE: descheduler 0.27 to 0.36, README (RemoveDuplicates) and pkg/framework/plugins/removeduplicates: pods of one
owner with the same images are duplicates; the nodes that count are those whose taints that close (NoSchedule,
NoExecute) the pods tolerate and that their selector and required affinity match; with fewer than two of these nothing
is evicted; of each node go the pods beyond ceil(pods / nodes).  Pods that the plugin does not look at, or that its
evictor protects, are none of them (`evictable_pods`).  Written from these words, not from its code.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from coherence import importers
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.expressions.tree import Call, Compare, Name
from tests.draws import source, trace_counts
from tests.models import evictable_pods as pods_of

NESTED = "removeDuplicates"


@dataclass(frozen=True)
class Node:
    """A node: its pool, its disk, its taint (empty: none), and how many pods of the workload lie on it."""

    pool: str
    disk: str
    taint: str
    pods: int


@dataclass(frozen=True)
class Demands:
    """What its pods ask for: a pool, disks (or none of them), and the taints that they tolerate."""

    pool: str
    disks: tuple[str, ...]
    without: bool
    tolerates: tuple[str, ...]

    def is_taken_by(self, node: Node) -> bool:
        """Decides whether a pod may be put on a node."""
        if node.taint and node.taint not in self.tolerates:
            return False
        if self.pool and self.pool != node.pool:
            return False
        return not self.disks or (node.disk in self.disks) != self.without


def evicted(demands: Demands, nodes: list[Node], *, may: bool) -> list[int]:
    """Returns how many pods one round takes from each node."""
    pods, able = sum(node.pods for node in nodes), sum(map(demands.is_taken_by, nodes))
    if able < 2 or not may:
        return [0] * len(nodes)
    return [max(0, node.pods - math.ceil(pods / able)) for node in nodes]


def drawn(rng: Random) -> tuple[Demands, list[Node]]:
    nodes = [
        Node(rng.choice(("a", "b")), rng.choice(("ssd", "hdd", "tape")), rng.choice(("", "", "gpu")), rng.randint(0, 6))
        for _ in range(rng.randint(1, 6))
    ]
    disks = tuple(sorted(rng.sample(("ssd", "hdd", "tape"), rng.randint(0, 2))))
    bears = rng.choice(((), ("gpu",)))
    return Demands(rng.choice(("", "", "a", "b")), disks, rng.random() < 0.5, bears), nodes


def manifests(demands: Demands, workload: pods_of.Workload, filters: pods_of.Filters) -> str:
    """Returns the workload and the policy."""
    pod = workload.pod()
    if demands.pool:
        pod["nodeSelector"] = {"pool": demands.pool}
    if demands.disks:
        expression = {"key": "disk", "operator": "NotIn" if demands.without else "In", "values": list(demands.disks)}
        required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        pod["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    if demands.tolerates:
        pod["tolerations"] = [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]
    deployment = {
        "apiVersion": "apps/v1",
        "kind": workload.kind,
        "metadata": {"name": "web", "namespace": workload.namespace},
        "spec": {"replicas": workload.copies, "template": {"metadata": workload.metadata(), "spec": pod}},
    }
    return f"{json.dumps(deployment)}\n---\n{pods_of.policy('RemoveDuplicates', NESTED, filters)}\n"


def overlay(nodes: list[Node]) -> str:
    lines = [
        f"  n{number}: {{pool: {node.pool}, disk: {node.disk}{f', taint: {node.taint}' if node.taint else ''}}}\n"
        for number, node in enumerate(nodes)
    ]
    return f"coherence: 1\noverlays: manifests\nplaces:\n{''.join(lines)}"


def taken(text: str, places: str, nodes: list[Node]) -> list[int]:
    """Returns how many pods the loop that is read takes from each node before its trigger no longer holds of it."""
    design = importers.design_from_sources({"policy.yaml": text, "overlay.yaml": places})
    (loop,) = design.loops.values() or (None,)
    if loop is None:
        return [0] * len(nodes)
    tree = loop.trigger.tree  # type: ignore[union-attr]
    assert isinstance(tree, Compare)
    assert tree.op == ">"
    assert tree.left == Call("count by", (Name("web"), Name("node")))
    share = evaluate(tree.right, Constants({"web.copies": Fraction(sum(node.pods for node in nodes))}))
    return [next(gone for gone in range(node.pods + 1) if not node.pods - gone > share) for node in nodes]


@trace_counts(150, of=("descheduler",))
def test_duplicates_go_from_the_nodes_and_as_many_as_by_the_words(traces: int) -> None:
    rng, moved, spared = source(91), 0, 0
    for _ in range(traces):
        demands, nodes = drawn(rng)
        copies = sum(node.pods for node in nodes)
        if copies < 2:
            continue  # no loop is read for a single pod, and one has no duplicate
        workload = pods_of.drawn_workload(rng, rng.choice(("Deployment", "StatefulSet")), copies)
        filters = pods_of.drawn_filters(rng, {}) if rng.random() < 0.7 else pods_of.Filters(old=False)
        may = filters.may_evict(workload)
        wanted = evicted(demands, nodes, may=bool(may) and not filters.selects_nodes)  # what is not known has no loop
        moved, spared = moved + any(wanted), spared + (may is not True)
        text = manifests(demands, workload, filters)
        assert taken(text, overlay(nodes), nodes) == wanted, (demands, workload, filters, nodes)
    assert moved > traces / 20
    assert spared > traces / 10
