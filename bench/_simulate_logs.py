"""Rows about recorded runs of real autoscalers: is the observed sequence of replicas the predicted one?

What metrics-server served and when is measured; from which of a pod's first readings on the autoscaler could use it
is not.  Where that changes the sequence, the row asks whether the observed one is among the possible ones, and says
how many there are and whether the nominal one (the latest usable reading) is equal.  The peer of the last row is the
same design with pods that are read as soon as they exist, as models without a metrics pipeline have it.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Row
from coherence.language.reading import read_text
from coherence.simulate.logs import ReplayComparison, design_text, find_runs, replay_logs
from coherence.verify.jobs.running.recorded_evictions import recorded_evictions

TOP = Path(__file__).resolve().parents[1]
SHARED = TOP.parent / "shared" / "data" / "k8s-failure-reproduction" / "failure_cases"
DELAYS = re.compile(r"runs: [0-9]+ s, seen: [0-9]+ s, counted: [^,]*,")
EXCERPTS = TOP / "tests" / "data" / "k8s_failure_reproduction"
DUPLICATES = """coherence: 1
components: {nginx_deployment: {copies: 4, needs: 2 cpu}}
places: {kind_worker: {cpu: 7}, kind_worker2: {cpu: 2}}
loops:
  remove_duplicates:
    timescale: {period: 10 s}
    trigger: count of nginx_deployment by node > 2
    actuation: {evict: nginx_deployment}
"""
SPREAD = """coherence: 1
components: {nginx_deployment: {copies: 4}}
places:
  kind_worker: {lifecycle: spot}
  kind_worker2: {lifecycle: spot}
  kind_worker3: {lifecycle: on_demand}
placement: {nginx_deployment: [prefer on lifecycle spot, prefer spread by lifecycle <= 1]}
loops:
  remove_violating:
    timescale: {period: 10 s}
    trigger: count of nginx_deployment by lifecycle > 2
    actuation: {evict: nginx_deployment}
"""


def rows() -> Iterator[Row]:
    """Two rows for each run (sequence, time error of the nearest prediction) and one for the nominal predictions."""
    folder = SHARED if SHARED.is_dir() else EXCERPTS
    made: list[ReplayComparison] = []
    plain = 0
    for run in find_runs(folder):
        case = str(run.autoscaler.relative_to(folder)).removesuffix("-gethpa.log.csv")
        comparison = replay_logs(run)
        made.append(comparison)
        undelayed = DELAYS.sub("seen: 0 s, counted: 0 s,", design_text(run))
        plain += replay_logs(run, read_text(undelayed)).equal
        yield from _of(case, comparison)
    equal = sum(one.equal for one in made)
    yield Row(
        "recorded runs whose nominal sequence is equal",
        equal,
        ">= 0",
        f"of {len(made)}",
        f"{plain} without delays of the readings",
    )
    yield from _evictor_rows()


def _evictor_rows() -> Iterator[Row]:
    """Recorded runs of a descheduler: is every eviction and placement a step of its design, at its time?"""
    for name, design in (("C5", DUPLICATES), ("C5-min_scale", DUPLICATES), ("C8", SPREAD)):
        for found in recorded_evictions(read_text(design), EXCERPTS / name):
            agree = sum(one.agrees for one in found.episodes)
            count, moves = len(found.episodes), sum(one.moves for one in found.episodes)
            yield Row(
                f"{name}: episodes of a descheduler that agree", agree, f"== {count}", f"of {count}", f"{moves} moves"
            )


def _of(case: str, one: ReplayComparison) -> Iterator[Row]:
    count = len(one.prediction.sequences)
    asked = "equal" if count == 1 else f"one of {count} possible"
    nominal = "nominal one equal" if one.equal else "nominal one another"
    yield Row(f"{case}: observed replicas are {asked}", int(one.possible), "== 1", "yes/no", nominal)
    if one.possible:
        error = statistics.mean(map(float, one.time_errors))
        yield Row(f"{case}: mean time error of a step", error, ">= 0", "s", "sync period 15 s")
