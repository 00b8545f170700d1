"""The effect of an exposure on an outcome in published diagrams, against their published adjustment sets."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.effects import matrix, total
from coherence.causal.fitting.fit import fit
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.causal.fitting.identification import identify

FOLDER = Path(str(files("pgmpy"))) / "utils" / "example_models"
ARROW = re.compile(r"^(\S+) (->|<->) (\S+)", re.MULTILINE)
HEAD = re.compile(r"^(\w+) \[", re.MULTILINE)


def published(name: str) -> tuple[CausalGraph, frozenset[str], str, str]:
    """(graph, latent, exposure, outcome) of a diagram in dagitty's notation; `a <-> b` is a latent cause of both."""
    text = (FOLDER / f"{name}.txt").read_text()
    nodes = HEAD.findall(text)
    said = {node: text.split(f"\n{node} [")[1].split("]")[0] for node in nodes}
    influences: list[Influence] = []
    latent = {node for node in nodes if "latent" in said[node]}
    for cause, kind, effect in ARROW.findall(text):
        if kind == "->":
            influences.append(Influence(cause, effect))
        else:
            latent.add(f"{cause}~{effect}")
            influences += [Influence(f"{cause}~{effect}", cause), Influence(f"{cause}~{effect}", effect)]
    one = {word: next(node for node in nodes if word in said[node]) for word in ("exposure", "outcome")}
    ends = one["exposure"], one["outcome"]
    if ends[1] not in _reached(influences, ends[0]):
        influences.append(Influence(*ends))  # the effect in question
    return CausalGraph((*nodes, *sorted(latent - set(nodes))), tuple(influences)), frozenset(latent), *ends


def _reached(influences: list[Influence], start: str) -> frozenset[str]:
    return CausalGraph((), tuple(Influence(one.effect, one.cause) for one in influences)).ancestors(start)


def seen(graph: CausalGraph, latent: frozenset[str], only: str) -> tuple[str, ...]:
    """What is measured: `only` these, or everything that is not latent."""
    return tuple(only.split()) or tuple(node for node in graph.nodes if node not in latent)


CASES = [
    # diagram, what is measured (all if empty), is the total effect told?
    ("confounding", "", True),  # {A, Z} or {B, Z}
    ("confounding", "E D Z A", True),
    ("confounding", "E D Z", False),  # Z alone opens A - Z - B
    ("mediator", "", True),  # {Z}
    ("mediator", "X Y Z", True),  # through I, which is not measured
    ("mediator", "X Y I", False),  # what X does to I is confounded by Z
    ("mediator", "X Y", False),
    ("M-bias", "", True),  # nothing to hold fixed, and Z must not be
    ("M-bias", "E D", True),
    ("paths", "", True),
    ("paths", "E D 7", True),  # any one of the back way blocks it
    ("paths", "E D 8", True),
    ("paths", "E D", False),
    ("Shrier_2008", "", True),
    ("Shrier_2008", "WarmUpExercises Injury", False),
    ("Schipf_2010", "", True),  # {A, S, U, WC} and supersets
    ("Schipf_2010", "TT T2DM A S U WC PA", True),
    ("Schipf_2010", "TT T2DM A PA S WC", False),  # U is a confounder
    ("Didelez_2010", "", True),  # {Age, Smo}
    ("Didelez_2010", "HRT TCI Age Smo", True),
    ("Didelez_2010", "HRT TCI Age", False),
    ("Thoemmes_2013", "", True),
    ("Thoemmes_2013", "x y", True),  # the empty set: everything between is caused by x
]


def told(graph: CausalGraph, names: tuple[str, ...], exposure: str, outcome: str) -> bool:
    """Is every coefficient on the ways from the exposure to the outcome told?"""
    bare = graph.bypassing(names)
    delays = {(one.cause, one.effect): (0,) for one in bare.influences if {one.cause, one.effect} <= set(names)}
    plan = identify(bare, names, delays, 1.0)
    inner = CausalGraph(names, tuple(Influence(c, e) for e, one in plan.items() for c, _ in one.columns))
    behind = inner.ancestors(outcome)
    between = [name for name in behind if exposure in inner.ancestors(name) and name != exposure]
    untold = [cause for name in behind if name in plan for cause in (*dict(plan[name].lost), *plan[name].replaced)]
    return not any(exposure in inner.ancestors(cause) for cause in untold) and bool(between)


@pytest.mark.parametrize(("name", "only", "expected"), CASES)
def test_what_published_sets_tell_is_told_and_nothing_else(name: str, only: str, expected: bool) -> None:
    graph, latent, exposure, outcome = published(name)
    assert told(graph, seen(graph, latent, only), exposure, outcome) is expected


@pytest.mark.parametrize(("name", "only"), [(name, only) for name, only, expected in CASES if expected])
def test_the_total_effect_is_the_true_one(name: str, only: str) -> None:
    graph, latent, exposure, outcome = published(name)
    rng = np.random.default_rng(1)
    strength = {(one.cause, one.effect): float(rng.uniform(0.4, 0.9)) for one in graph.influences}
    values: dict[str, Floats] = {}
    while len(values) < len(graph.nodes):
        for node in graph.nodes:
            if node not in values and all(cause in values for cause in graph.causes(node)):
                caused = sum(strength[cause, node] * values[cause] for cause in graph.causes(node))
                values[node] = np.asarray(rng.standard_normal(20_000) + caused, np.float64)
    direct = np.zeros((len(graph.nodes), len(graph.nodes)))
    for (cause, effect), amount in strength.items():
        direct[graph.nodes.index(effect), graph.nodes.index(cause)] = amount
    truth = np.linalg.inv(np.eye(len(direct)) - direct)[graph.nodes.index(outcome), graph.nodes.index(exposure)]
    names = seen(graph, latent, only)
    fitted = fit(Series(names, np.column_stack([values[name] for name in names]), 1.0), graph)
    effects = total(matrix(fitted))[:, names.index(outcome), names.index(exposure)]
    error = float(np.sqrt((len(effects) - 2) / (len(effects) - 1) * ((effects[1:] - effects[1:].mean()) ** 2).sum()))
    assert abs(effects[0] - truth) <= 4.5 * error
