"""LowNodeUtilization and HighNodeUtilization of the descheduler, as a policy is read, against a plain program.

`Round` is one round of the program over nodes, pods and thresholds of several resources, in exact shares (the original
compares shares as floating-point numbers).  It shares nothing with the engine.

SOURCE: descheduler 0.27 to 0.36, README (LowNodeUtilization, HighNodeUtilization) and pkg/framework/plugins/
nodeutilization: a node is underutilised where it uses no more than the threshold of every resource, overutilised where
it uses more than the target of any; nothing is done where no more than numberOfNodes are underutilised, where all are,
or where there is nothing to take from or to go to; pods go while their node is above a target (LowNodeUtilization) and
while the nodes that they may go to have room of every resource.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from coherence import importers
from coherence.language.design import Loop
from coherence.language.expressions.evaluate import Constants, evaluate
from coherence.language.schema_kinds import Formula
from tests.draws import source, trace_counts

PARTS = ("descheduler_node_utilization",)
LOW, HIGH = "LowNodeUtilization", "HighNodeUtilization"
RESOURCES = ("cpu", "memory", "pods")
Shares = dict[str, Fraction]  # resource -> share of a node


@dataclass(frozen=True)
class Node:
    """A node, what it has of each resource, its pods with what they request, and whether it is cordoned."""

    has: dict[str, int]
    pods: tuple[dict[str, int], ...]
    cordoned: bool

    def uses(self, resource: str) -> int:
        return len(self.pods) if resource == "pods" else sum(pod[resource] for pod in self.pods)

    def share(self, resource: str) -> Fraction:
        return Fraction(self.uses(resource), self.has[resource])


@dataclass(frozen=True)
class Round:
    """Thresholds (targets: of LowNodeUtilization alone) as shares; `about_mean`: they are distances from the mean."""

    plugin: str
    thresholds: Shares
    targets: Shares
    about_mean: bool
    number_of_nodes: int

    def limits(self, nodes: list[Node]) -> tuple[Shares, Shares]:
        if not self.about_mean:
            return self.thresholds, self.targets
        mean = {name: sum((node.share(name) for node in nodes), Fraction(0)) / len(nodes) for name in self.thresholds}
        low = {name: max(mean[name] - share, Fraction(0)) for name, share in self.thresholds.items()}
        return low, {name: min(mean[name] + share, Fraction(1)) for name, share in self.targets.items()}

    def begins(self, nodes: list[Node]) -> tuple[list[Node], list[Node]]:
        """Returns the nodes that pods are taken from, and those they may go to; nothing where it has nothing to do."""
        low, high = self.limits(nodes)
        under = [node for node in nodes if all(node.share(name) <= share for name, share in low.items())]
        if self.plugin == LOW:
            under = [node for node in under if not node.cordoned]
            rest = [node for node in nodes if node not in under]
            over = [node for node in rest if any(node.share(name) > share for name, share in high.items())]
            sources, sinks = over, under
        else:
            sources, sinks = under, [node for node in nodes if node not in under and not node.cordoned]
        idle = len(under) <= self.number_of_nodes or len(under) == len(nodes) or not sources or not sinks
        return ([], []) if idle else (sources, sinks)

    def evictions(self, nodes: list[Node]) -> int:
        """Returns how many pods go; the fullest nodes come first, or the emptiest."""
        sources, sinks = self.begins(nodes)
        _, high = self.limits(nodes)
        high = high if self.plugin == LOW else {}
        room = {
            name: sum((high.get(name, Fraction(1)) * node.has[name] - node.uses(name) for node in sinks), Fraction(0))
            for name in RESOURCES
        }
        gone = 0
        for node in sources:
            left = {name: node.uses(name) for name in RESOURCES}
            for pod in node.pods:
                above = any(left[name] > share * node.has[name] for name, share in high.items())
                if (self.plugin == LOW and not above) or min(room.values()) <= 0:
                    break
                gone += 1
                for name, amount in {**pod, "pods": 1}.items():
                    left[name], room[name] = left[name] - amount, room[name] - amount
        return gone


def percents(shares: Shares) -> dict[str, int]:
    return {name: int(100 * share) for name, share in shares.items()}


def policy(low: Round, high: Round) -> str:
    given = {
        "thresholds": percents(low.thresholds),
        "targetThresholds": percents(low.targets),
        "numberOfNodes": low.number_of_nodes,
        "useDeviationThresholds": low.about_mean,
    }
    other = {"thresholds": percents(high.thresholds), "numberOfNodes": high.number_of_nodes}
    configs = [{"name": LOW, "args": given}, {"name": HIGH, "args": other}]
    profile = {"name": "p", "pluginConfig": configs, "plugins": {"balance": {"enabled": [LOW, HIGH]}}}
    return json.dumps({"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]})


def holds(loop: Loop, nodes: list[Node]) -> bool:
    """Decides whether the trigger of a loop holds while nodes are so full."""
    values: dict[str, Fraction] = {}
    for name in RESOURCES:
        shares = [node.share(name) for node in nodes]
        values |= {f"nodes.emptiest_{name}": min(shares), f"nodes.fullest_{name}": max(shares)}
        values[f"nodes.mean_{name}"] = sum(shares, Fraction(0)) / len(shares)
    assert isinstance(loop.trigger, Formula)
    return bool(evaluate(loop.trigger.tree, Constants(values)))


def drawn(rng: Random) -> tuple[Round, Round]:
    names = rng.sample(RESOURCES, rng.choice((1, 1, 2, 3)))
    about_mean = rng.random() < 0.3
    low = {name: Fraction(rng.choice((0, 10, 20, 30, 50)), 100) for name in names}
    target = {name: share + Fraction(rng.choice((0, 10, 30, 50)), 100) for name, share in low.items()}
    few = rng.choice((0, 0, 0, 1, 2))
    others = rng.sample(RESOURCES, rng.choice((1, 2)))
    other = {name: Fraction(rng.choice((10, 20, 40, 60, 100)), 100) for name in others}
    return Round(LOW, low, target, about_mean, few), Round(HIGH, other, {}, about_mean=False, number_of_nodes=few)


def drawn_nodes(rng: Random) -> list[Node]:
    nodes, may_cordon = [], rng.random() < 0.3
    for _ in range(rng.randint(1, 6)):
        has = {"cpu": rng.choice((10, 20)), "memory": rng.choice((10, 40)), "pods": 10}
        pods = tuple({"cpu": rng.randint(0, 3), "memory": rng.randint(0, 3)} for _ in range(rng.randint(0, 6)))
        nodes.append(Node(has, pods, may_cordon and rng.random() < 0.3))
    return nodes


@trace_counts(200, of=PARTS)
def test_it_acts_where_the_trigger_holds_and_where_one_resource_is_looked_at_nowhere_else(traces: int) -> None:
    rng = source(93)
    acted = alike = 0
    for _ in range(traces // 10):
        rounds = drawn(rng)
        loops = importers.design_from_sources({"policy.yaml": policy(*rounds)}).loops.values()
        for _ in range(10):
            nodes = drawn_nodes(rng)
            for loop, plain in zip(loops, rounds, strict=True):
                begins, is_true = bool(plain.begins(nodes)[0]), holds(loop, nodes)
                assert is_true or not begins, (plain, nodes)
                assert begins or not plain.evictions(nodes), (plain, nodes)
                acted += plain.evictions(nodes) > 0
                if len(plain.thresholds) == 1 and not plain.number_of_nodes and not any(n.cordoned for n in nodes):
                    alike += is_true
                    assert begins == is_true, (plain, nodes)
    assert acted > traces / 20
    assert alike > traces / 20
