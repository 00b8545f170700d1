"""CronJob: a timer that starts its jobs, and the time limit of a job.

With `concurrencyPolicy: Allow`, the default, a job that still runs is no reason to wait; `Forbid` skips its turn and
`Replace` ends it, so neither overlaps itself.  How long a job runs is not in the manifest: `<name>.run`.

SOURCE: Kubernetes API, batch/v1 CronJobSpec, JobSpec; documentation, CronJob (the controller looks every 10 s).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from coherence.base import units
from coherence.importers import _pods as pods
from coherence.importers._jobs import SPELLING as OWN
from coherence.importers._jobs import add_limits, enqueue, pod_set
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import duration_text, respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar, Table

KIND = "CronJob"
GROUPS = ("batch",)
SPELLING = {**pods.SPELLING, **OWN, "every": "schedule"}
POLICIES = ("Allow", "Forbid", "Replace")
DAY = 86400
NOT_MODELLED = {
    "startingDeadlineSeconds": "a start that is missed by more is left out; below 10 s none may ever come",
    "successfulJobsHistoryLimit": "how many that have ended are remembered",
    "failedJobsHistoryLimit": "how many that have failed are remembered",
    "timeZone": "in which time zone it starts",
}
EVERY = {"@hourly": 3600, "@daily": DAY, "@midnight": DAY, "@weekly": 7 * DAY}
FIELD = r"\*|\*/[0-9]{1,4}|[0-9]{1,4}"
REGULAR = re.compile(rf"(?P<minutes>{FIELD})\s+(?P<hours>{FIELD})\s+\*\s+\*\s+\*")


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component, the timer that starts its jobs, and their time limit."""
    spec = manifest.spec
    outer, job = spec.table("jobTemplate"), spec.inner("jobTemplate", "spec")
    template = job.table("template") if job else None
    thing = pods.add_pods(manifest, sketch, template, copies=None)
    schedule, policy = spec.required("schedule"), spec.scalar("concurrencyPolicy")
    if policy is not None and policy.text not in POLICIES:
        words = f"{spec.at('concurrencyPolicy')} is '{units.shorten(policy.text)}'"
        spec.problem(policy.place, words, f"write one of {', '.join(POLICIES)}")
    spec.remark_all(NOT_MODELLED)
    metadata = outer.node.get("metadata") if outer else None
    if job is not None:
        add_limits(job, thing, sketch)
    if job is not None and isinstance(metadata, Table):
        again = respelled(schedule, "again") if schedule is not None else None
        enqueue(manifest, sketch, [pod_set(job)], pods.specifications([job]), metadata=metadata, comes=again)
    suspended = spec.scalar("suspend")
    if suspended is not None and suspended.text == "true":
        spec.remark("schedule", "suspend: no job is started")
    elif policy is not None and policy.text in POLICIES[1:]:
        spec.remark("schedule", f"concurrencyPolicy {policy.text}: a job does not overlap the one before")
    elif schedule is not None:
        _starts(spec, schedule, thing, sketch)


def _starts(spec: FieldView, schedule: Scalar, thing: str, sketch: Sketch) -> None:
    seconds = least_gap(schedule.text)
    if seconds is None:
        spec.remark("schedule", "the time between its starts is not regular, and not modelled")
        return
    sketch.put_timer(
        f"{thing}_schedule",
        schedule.place,
        start=f"{thing} created",
        every=duration_text(units.quantity(f"{seconds} s")[0]),
        then=f"{thing}.run starts",
    )


def least_gap(schedule: str) -> int | None:
    """Returns the seconds between two starts of a regular schedule: `*/5 * * * *` -> 300; None for any other."""
    text = schedule.strip()
    if text in EVERY:
        return EVERY[text]
    match = REGULAR.fullmatch(text)
    if match is None:
        return None
    hours, minutes = _values(match["hours"], 24), _values(match["minutes"], 60)
    starts = [3600 * hour + 60 * minute for hour in hours for minute in minutes]
    if not starts:
        return None
    return min(later - start for start, later in itertools.pairwise([*starts, starts[0] + DAY]))


def _values(field: str, cycle: int) -> Sequence[int]:
    """Returns the minutes or hours that a field means; none, where the field means nothing."""
    if field.isdigit():
        return [int(field)] if int(field) < cycle else []
    step = int(field.partition("/")[2] or 1)
    return range(0, cycle, step) if step else []
