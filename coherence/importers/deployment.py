"""Deployment: pods with what they need, probes as timers, the rolling update as limits, grace as a timer.

The rolling update is a pair of limits where it is written, and with Kubernetes' defaults where a member needs
an accelerator or another extended resource, of which the one extra member may find none.  A startup probe holds the
other probes back until the load has ended.  Where `replicas` is written and something scales the workload, each apply
of the manifest writes it too.

SOURCE: Kubernetes API, apps/v1 DeploymentSpec.  Defaults are in the parts.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._replicas import link_scaling as link
from coherence.importers._replicas import replicas
from coherence.importers._rolling import progress_deadline, rolling_update
from coherence.importers._sketch import Sketch

__all__ = ["GROUPS", "KIND", "SPELLING", "add", "link"]

KIND = "Deployment"
GROUPS = ("apps", "extensions")
SPELLING = pods.SPELLING


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component, its probes, its rolling update and the time it is given to stop."""
    spec = manifest.spec
    template = spec.table("template")
    thing = pods.add_pods(manifest, sketch, template, copies=replicas(spec))
    if "strategy" in spec or pods.needs_scarce(template):
        _rollout(spec, thing, sketch)
    progress_deadline(spec, thing, sketch)


def _rollout(spec: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the rolling update; nothing of it where all members end first."""
    strategy = spec.table("strategy")
    kind = strategy.scalar("type") if strategy else None
    if strategy is not None and kind is not None and kind.text == "Recreate":
        strategy.remark("type", f"{kind.text}: every member ends before the first new one starts")
        return
    rolling_update(strategy.table("rollingUpdate") if strategy else None, spec, thing, sketch)
