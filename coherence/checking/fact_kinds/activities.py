"""How long an activity of a thing takes that a timer or a drain waits for: a start, a run, a drain.

A start runs from the first start of a container to the first time that the pod is ready.  kube-state-metrics gives the
last transition of the condition Ready whatever it says, so that it counts only while the pod is ready; the least of
the window is the first.  Pods that were restarted, or never ready, have no such time: they are counted.

SOURCE: kube-state-metrics, docs/metrics/workload/pod-metrics.md and job-metrics.md, internal/store/pod.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget, OpenQuestion, escaped
from coherence.language.design import Design, Timer
from coherence.language.sentences import Event

CODES = {"COH206", "COH207", "COH246"}
OF_BUDGETS = "COH209"  # a budget of each run asks how long that is
BY_POD = "by (namespace, pod, uid)"  # a StatefulSet makes pods of one name one after another
ON_POD = "on (namespace, pod, uid)"


def facts(design: Design, question: OpenQuestion) -> Iterator[AskedFact]:
    """Yields the activities without a time that the timers of a question wait for."""
    timers = [design.timers[name] for name in question.of if name in design.timers]
    waited = {event.subject for timer in timers if CODES & set(question.codes) for event in _events(timer)}
    limits = [design.limits[name] for name in question.of if name in design.limits]
    waited |= {limit.per.text for limit in limits if limit.per is not None and OF_BUDGETS in question.codes}
    for thing, _, activity in sorted(subject.partition(".") for subject in waited):
        component = design.components.get(thing)
        if component is not None and activity and activity not in (component.takes or {}):
            path, words = ("components", thing, "takes", activity), f"how long {thing}.{activity} takes"
            yield AskedFact("activities", path, thing, "s", words, remedy=_remedy(activity))


def _events(timer: Timer) -> Iterator[Event]:
    yield from (event for event in (timer.unless, timer.start) if event is not None and event.kind == "ends")


def _remedy(activity: str) -> str:
    if activity.startswith("drain"):
        return "time a pod from SIGTERM to its end under load"
    return f"a metric of your own that has the seconds of each {activity}"


def queries(fact: AskedFact, target: FactTarget) -> Iterator[FactQuery]:
    """Yields what kube-state-metrics knows of a start, or of the run of a job."""
    activity = fact.path[-1]
    if activity == "load" or activity.startswith("load_"):
        yield from _starts(target, activity.partition("_")[2])
    elif activity in ("run", "work") and target.kind in ("Job", "CronJob"):
        yield _run(target)


def _starts(target: FactTarget, container: str) -> Iterator[FactQuery]:
    if not target.is_workload:
        return
    pods, span = target.pods(), target.span
    own = f',container=~"{escaped(container).replace("_", "[-_.]")}"' if container else ""
    is_ready = f'kube_pod_status_ready{{{pods},condition="true"}} == 1'
    ready_time = f"kube_pod_status_ready_time{{{pods}}} and {ON_POD} ({is_ready})"
    ready = f"min {BY_POD} (min_over_time(({ready_time})[{span}:{target.step}]))"
    begun = f"min {BY_POD} (min_over_time(kube_pod_container_state_started{{{pods}{own}}}[{span}]))"
    fresh = f"(min {BY_POD} (last_over_time(kube_pod_start_time{{{pods}}}[{span}])) > time() - {target.window})"
    restarts = f"max_over_time(kube_pod_container_status_restarts_total{{{pods}}}[{span}])"
    restarted = f"(max {BY_POD} ({restarts}) > 0)"
    counted = f"and {ON_POD} {fresh} unless {ON_POD} {restarted}"
    yield FactQuery(
        f"({ready} - {begun}) {counted}", "kube-state-metrics", "samples",
        note="from the start of a container to ready, pods that began in the window", of_all=f"count({fresh})",
    )  # fmt: skip


def _run(target: FactTarget) -> FactQuery:
    name = escaped(target.raw) + ("-[0-9]+" if target.kind == "CronJob" else "")
    jobs, span = target.matchers(f'job_name=~"{name}"'), target.span
    ended = f"max by (namespace, job_name) (last_over_time(kube_job_status_completion_time{{{jobs}}}[{span}]))"
    begun = f"max by (namespace, job_name) (last_over_time(kube_job_status_start_time{{{jobs}}}[{span}]))"
    return FactQuery(
        f"{ended} - {begun}", "kube-state-metrics", "samples",
        note="from the start of a job to its completion", of_all=f"count({begun})",
    )  # fmt: skip
