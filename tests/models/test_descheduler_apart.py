"""RemovePodsViolatingInterPodAntiAffinity of the descheduler, as its policy is read, against a plain program.

SOURCE: descheduler 0.27 to 0.36, README (RemovePodsViolatingInterPodAntiAffinity) and Kubernetes documentation,
Assigning Pods to Nodes: a pod is evicted while another one of those from which it must keep away lies in its domain of
the topology key; terms that are only preferred evict nobody.  Written from these words, not from its code.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from random import Random

from coherence import importers
from coherence.language.expressions.tree import Call, Compare, Name, Number
from tests.draws import source, trace_counts
from tests.models import evictable_pods as pods_of

PLUGIN = "RemovePodsViolatingInterPodAntiAffinity"
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DOMAINS = {HOST: "node", ZONE: "zone"}


@dataclass(frozen=True)
class Term:
    """From which pods those of the workload keep away, in which domain; whether they must."""

    topology: str
    own: bool
    must: bool


@dataclass(frozen=True)
class Node:
    """A node: its zone, and how many pods of the workload lie on it."""

    zone: str
    pods: int


def evicted(terms: list[Term], nodes: list[Node], *, may: bool) -> int:
    """Returns how many pods one round takes: one after the other, while another one lies in its domain."""
    places = [(number, node.zone) for number, node in enumerate(nodes) for _ in range(node.pods)]
    musts = [term for term in terms if term.must and term.own]
    gone = 0
    for here in list(places):
        others = list(places)
        others.remove(here)
        near = any(other[term.topology == ZONE] == here[term.topology == ZONE] for term in musts for other in others)
        if may and near:
            places.remove(here)
            gone += 1
    return gone


def manifests(terms: list[Term], workload: pods_of.Workload, filters: pods_of.Filters) -> str:
    """Returns the workload and the policy."""
    stated: dict[str, list[object]] = {}
    for term in terms:
        labels = {"tier": workload.tier if term.own else "other"}
        one = {"topologyKey": term.topology, "labelSelector": {"matchLabels": labels}}
        key = f"{'required' if term.must else 'preferred'}DuringSchedulingIgnoredDuringExecution"
        stated.setdefault(key, []).append(one if term.must else {"weight": 1, "podAffinityTerm": one})
    pod = workload.pod() | {"affinity": {"podAntiAffinity": stated}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": workload.kind,
        "metadata": {"name": "web", "namespace": workload.namespace},
        "spec": {"replicas": workload.copies, "template": {"metadata": workload.metadata(), "spec": pod}},
    }
    return f"{json.dumps(deployment)}\n---\n{pods_of.policy(PLUGIN, '', filters)}\n"


def taken(text: str, nodes: list[Node]) -> int:
    """Returns how many pods the loops that are read take before no trigger of theirs holds any more."""
    places = "".join(f"  n{number}: {{zone: {node.zone}}}\n" for number, node in enumerate(nodes))
    overlay = f"coherence: 1\noverlays: manifests\nplaces:\n{places}"
    design = importers.design_from_sources({"policy.yaml": text, "overlay.yaml": overlay})
    domains = []
    for loop in design.loops.values():
        tree = loop.trigger.tree  # type: ignore[union-attr]
        assert isinstance(tree, Compare)
        assert tree.op == ">"
        assert isinstance(tree.left, Call)
        assert isinstance(tree.right, Number)
        assert tree.right.value == 1
        assert isinstance(tree.left.arguments[1], Name)
        domains.append(tree.left.arguments[1].path)
    lie = [(node.zone, number) for number, node in enumerate(nodes) for _ in range(node.pods)]
    gone = 0
    while crowded := [one for one in lie for domain in domains if _near(lie, one, domain) > 1]:
        lie.remove(crowded[0])
        gone += 1
    return gone


def _near(lie: list[tuple[str, int]], one: tuple[str, int], domain: str) -> int:
    return Counter(other[domain == "node"] for other in lie)[one[domain == "node"]]


def drawn_terms(rng: Random) -> list[Term]:
    number = rng.choice((1, 1, 2))
    return [Term(rng.choice((HOST, HOST, ZONE)), rng.random() < 0.8, rng.random() < 0.8) for _ in range(number)]


@trace_counts(150, of=("descheduler",))
def test_pods_that_must_keep_away_from_each_other_go_as_many_as_by_the_words(traces: int) -> None:
    rng, moved, spared = source(93), 0, 0
    for _ in range(traces):
        nodes = [Node(rng.choice(("a", "b", "c")), rng.choice((0, 1, 1, 2, 3))) for _ in range(rng.randint(1, 6))]
        copies = sum(node.pods for node in nodes)
        if copies < 2:
            continue  # no loop is read for a single pod, and one is alone
        workload = pods_of.drawn_workload(rng, rng.choice(("Deployment", "StatefulSet")), copies)
        filters = pods_of.drawn_filters(rng, {}) if rng.random() < 0.7 else pods_of.Filters(old=False)
        may, terms = filters.may_evict(workload), drawn_terms(rng)
        wanted = evicted(terms, nodes, may=bool(may) and not filters.selects_nodes)  # what is not known has no loop
        moved, spared = moved + bool(wanted), spared + (may is not True)
        assert taken(manifests(terms, workload, filters), nodes) == wanted, (terms, workload, filters, nodes)
    assert moved > traces / 20
    assert spared > traces / 10
