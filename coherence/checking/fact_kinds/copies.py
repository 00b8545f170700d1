"""How many copies of a thing there are, where no manifest that was given says it.

SOURCE: kube-state-metrics, docs/metrics/workload: deployment, statefulset, daemonset, replicaset, pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget, OpenQuestion, text
from coherence.language.design import Component, Design

CODES = {"COH209", "COH212", "COH240"}
BY_KIND = {
    "Deployment": "kube_deployment_spec_replicas{%s}",
    "StatefulSet": "kube_statefulset_replicas{%s}",
    "DaemonSet": "kube_daemonset_status_desired_number_scheduled{%s}",
    "ReplicaSet": "kube_replicaset_spec_replicas{%s}",
}


def facts(design: Design, question: OpenQuestion) -> Iterator[AskedFact]:
    """Yields the things that a question is about whose number nobody states."""
    for thing in _things(design, question) if CODES & set(question.codes) else ():
        component = design.components.get(thing)
        if component is not None and not _is_known(design, component):
            words = f"how many copies of {thing} there are"
            remedy = "count the pods, as count(kube_pod_info{...})"
            yield AskedFact("copies", ("components", thing, "copies"), thing, "copies", words, remedy=remedy)


def _things(design: Design, question: OpenQuestion) -> Iterator[str]:
    """Yields the things among the names, and those whose members a named limit counts or a named loop writes."""
    for name in question.of:
        limit, loop = design.limits.get(name), design.loops.get(name)
        if limit is not None and limit.counts is not None:
            yield str(limit.counts).partition(".")[0]
        elif loop is not None and loop.actuation is not None and loop.actuation.signal is not None:
            yield loop.actuation.signal.text.partition(".")[0]
        else:
            yield name


def _is_known(design: Design, component: Component) -> bool:
    written = f"{component.name}.replicas"
    actuations = [loop.actuation for loop in design.loops.values() if loop.actuation is not None]
    scaled = any(it.signal is not None and it.signal.text == written for it in actuations)
    return component.copies is not None or component.count is not None or scaled


def queries(fact: AskedFact, target: FactTarget) -> Iterator[FactQuery]:
    """Yields the replicas that the object asks for; of any other thing the pods that run."""
    del fact
    if target.kind in BY_KIND:
        metric = BY_KIND[target.kind] % target.matchers(f"{target.kind.lower()}={text(target.raw)}")
        yield FactQuery(f"max({metric})", "kube-state-metrics", "over time")
    else:
        running = f'count(kube_pod_status_phase{{{target.pods()},phase="Running"}} == 1)'
        yield FactQuery(running, "kube-state-metrics", "over time", note="pods that run and whose names fit")
