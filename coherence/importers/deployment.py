"""Deployment: pods with what they need, probes as timers, the rolling update as limits, grace as a timer.

The rolling update is a pair of limits where it is written, and with Kubernetes' defaults where a member needs
an accelerator or another extended resource, of which the one extra member may find none.  A startup probe holds the
other probes back until the load has ended.  Where `replicas` is written and something scales the workload, each apply
of the manifest writes it too.

SOURCE: Kubernetes API, apps/v1 DeploymentSpec.  Defaults are in the parts.
"""

from __future__ import annotations

from coherence.base import units
from coherence.importers import _pods as pods
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import members, respelled
from coherence.importers._replicas import link_scaling as link
from coherence.importers._replicas import replicas
from coherence.importers._sketch import Sketch, default_scalar
from coherence.language.document import Scalar

__all__ = ["GROUPS", "KIND", "SPELLING", "add", "link"]

KIND = "Deployment"
GROUPS = ("apps", "extensions")
SPELLING = pods.SPELLING
ROLLOUT = (
    ("maxSurge", "surge", "extra", "up", "rolling_update_surge"),
    ("maxUnavailable", "unavailable", "down", "down", "rolling_update_unavailable"),
)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component, its probes, its rolling update and the time it is given to stop."""
    spec = manifest.spec
    template = spec.table("template")
    thing = pods.add_pods(manifest, sketch, template, copies=replicas(spec))
    if "strategy" in spec or pods.needs_scarce(template):
        _rollout(spec, thing, sketch)


def _rollout(spec: FieldView, thing: str, sketch: Sketch) -> None:
    """maxSurge, rounded up, and maxUnavailable, rounded down; 25 % each where nothing is written."""
    strategy = spec.table("strategy")
    kind = strategy.scalar("type") if strategy else None
    if strategy is not None and kind is not None and kind.text == "Recreate":
        strategy.remark("type", f"{kind.text}: every member ends before the first new one starts")
        return
    rolling = strategy.table("rollingUpdate") if strategy else None
    for key, name, counted, rounding, part in ROLLOUT:
        stated = rolling.scalar(key) if rolling else None
        most = stated or default_scalar(part, "at_most")
        cap = members(most, thing, rounding)
        if cap is None:
            words = f"{rolling.at(key) if rolling else key} is '{units.shorten(most.text)}'"
            spec.problem(most.place, words, "write a number of pods or a percentage")
            continue
        place = stated.place if stated else sketch.sections["components"].key_place(thing)
        values = {
            "uses": Scalar(part, place),
            "counts": Scalar(f"{thing}.{counted}", place),
            "at_most": respelled(most, cap),
        }
        sketch.put("limits", sketch.names.fresh(f"{thing}_{name}"), place, values)
