"""The rolling update of a workload: how many members may be extra or missing, and the time each step has.

SOURCE: Kubernetes API, apps/v1 RollingUpdateDeployment, DeploymentSpec.progressDeadlineSeconds; Argo Rollouts,
Specification.  Defaults are in the parts.
"""

from __future__ import annotations

from coherence.base import units
from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import members, respelled
from coherence.importers._sketch import Sketch, default_scalar
from coherence.language.document import Scalar

ROLLOUT = (
    ("maxSurge", "surge", "extra", "up", "rolling_update_surge"),
    ("maxUnavailable", "unavailable", "down", "down", "rolling_update_unavailable"),
)


def rolling_update(rolling: FieldView | None, spec: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds maxSurge, rounded up, and maxUnavailable, rounded down; 25 % each where nothing is written."""
    for key, name, counted, rounding, part in ROLLOUT:
        stated = rolling.scalar(key) if rolling else None
        most = stated or default_scalar(part, "at_most")
        cap = members(most, thing, rounding)
        if cap is None:
            words = f"{rolling.at(key) if rolling else key} is '{units.shorten(most.text)}'"
            spec.problem(most.place, words, "write a number of pods or a percentage")
            continue
        place = stated.place if stated else sketch.sections["components"].key_place(thing)
        sketch.put_limit(f"{thing}_{name}", f"{thing}.{counted}", respelled(most, cap), place=place, uses=part)


def progress_deadline(spec: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the time in which each new pod must be ready, where it is written: past it the update has failed.

    It counts for an update: a container that is started again begins no new one.
    """
    stated = spec.seconds("progressDeadlineSeconds", zero_is_absent=True)
    aborts = spec.scalar("progressDeadlineAbort")
    if stated is None:
        return
    ends = aborts is not None and aborts.text == "true"
    then = f"{'abort' if ends else 'report'} {thing} update"
    put_progress(thing, sketch, per="update", after=stated, then=then, objective="tell that an update does not go on")


def put_progress(thing: str, sketch: Sketch, *, per: str, after: Scalar, then: str, objective: str) -> None:
    """Adds the timer that runs until a new pod is ready, once for each update or revision."""
    sketch.put_timer(
        f"{thing}_progress", layer="orchestration", objective=objective, during=f"{thing}.load", per=per, after=after,
        then=then,
    )  # fmt: skip
