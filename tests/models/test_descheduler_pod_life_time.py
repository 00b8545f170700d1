"""PodLifeTime of the descheduler, as its policy is read, against a plain program, pod by pod.

SOURCE: descheduler 0.27 to 0.36, README (PodLifeTime) and pkg/framework/plugins/podlifetime: in each round a pod goes
whose age since its creation, both kept in whole seconds, is more than maxPodLifeTimeSeconds; of some phases only where
`states` names them; pods that the plugin does not look at, or that its evictor protects, stay (`evictable_pods`).
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from random import Random

from coherence import importers
from coherence.verify.timers.firing import firing
from tests.draws import source, trace_counts
from tests.models import evictable_pods as pods_of

PARTS = ("descheduler_pod_life_time",)
INTERVAL = 300  # seconds: the descheduler chart
KEYS = {False: "states", True: "podStatusPhases"}


def age_at_eviction(longest: int, created: Fraction, first: Fraction) -> Fraction:
    """Returns the age of a pod in the round that evicts it; `first`: the time of the first round."""
    now = first
    while math.floor(now - math.floor(created)) <= longest:
        now += INTERVAL
    return now - created


def manifests(workload: pods_of.Workload, filters: pods_of.Filters) -> str:
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": workload.namespace},
        "spec": {
            "parallelism": workload.copies,
            "template": {"metadata": workload.metadata(), "spec": workload.pod()},
        },
    }
    return f"{json.dumps(job)}\n---\n{pods_of.policy('PodLifeTime', 'podLifeTime', filters)}\n"


def drawn(rng: Random) -> tuple[pods_of.Workload, pods_of.Filters, int, bool]:
    """Returns a job, a policy, the age that its pods may reach, and whether the policy looks at pods that run."""
    longest, old = rng.choice((0, 1, 59, 600, 3600, 86_400)), rng.random() < 0.4
    states = rng.choice((None, None, ["Running"], ["Pending"], ["Running", "Pending"]))
    arguments: pods_of.Given = {"maxPodLifeTimeSeconds": longest, **({KEYS[old]: states} if states else {})}
    filters = pods_of.drawn_filters(rng, arguments, old=old) if rng.random() < 0.7 else pods_of.Filters(
        old=old, arguments=arguments
    )  # fmt: skip
    return pods_of.drawn_workload(rng, "Job", rng.randint(1, 4)), filters, longest, not states or "Running" in states


@trace_counts(150, of=PARTS)
def test_a_pod_goes_in_the_window_of_the_timer_or_has_none(traces: int) -> None:
    rng, soonest, latest = source(92), Fraction(INTERVAL), Fraction(0)
    kept = 0
    for _ in range(traces):
        workload, filters, longest, looks = drawn(rng)
        timers = importers.design_from_sources({"all.yaml": manifests(workload, filters)}).timers
        if filters.selects_nodes or not looks or not filters.may_evict(workload):
            kept += 1
            assert not timers, (workload, filters)
            continue
        fires = firing(timers["train_life"])
        assert fires is not None
        assert fires.window.latest is not None
        for _ in range(5):
            created = Fraction(rng.randint(0, 10**6), 1000)
            age = age_at_eviction(longest, created, Fraction(rng.randint(0, 1000 * INTERVAL), 1000) + created)
            assert fires.window.earliest <= age <= fires.window.latest, (longest, created, age)
            soonest, latest = min(soonest, age - longest), max(latest, age - longest)
    assert traces / 10 < kept < traces
    # of 250 ages and more that fall evenly within 301 s none lies in the first or last 20 s: below 2 x (281/301)^250
    assert soonest < 20
    assert latest > 281
