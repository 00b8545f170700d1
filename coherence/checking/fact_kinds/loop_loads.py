"""What an autoscaler has to carry: the sum over all replicas of what it aims at one of them.

SOURCE: Kubernetes documentation, HorizontalPodAutoscaler: utilization is usage over request, averaged over pods;
cAdvisor metrics (`container_cpu_usage_seconds_total`).
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget, OpenQuestion, escaped
from coherence.language.design import Component, Design, Loop

CODES = {"COH301", "COH308"}
DEMAND = "demand"
EVENLY = "taken as shared evenly by the replicas, and not changed by their number"


def facts(design: Design, question: OpenQuestion) -> Iterator[AskedFact]:
    """Yields the load of a loop that writes replicas by what one of them carries, where nothing says what that is."""
    loops = [design.loops[name] for name in question.of if name in design.loops]
    for loop in loops if CODES & set(question.codes) else ():
        thing, signal = _aim(loop)
        component = design.components.get(thing)
        if component is None or not signal or signal in component.constants or DEMAND in component.constants:
            continue
        each = _each(component, signal)
        also = (((("components", thing, signal)), each),) if each else ()
        path = ("components", thing, DEMAND)
        words = f"what all replicas of {thing} together have of {signal}"
        yield AskedFact("loop_loads", path, thing, "", words, also, _remedy(thing, signal, each))


def _aim(loop: Loop) -> tuple[str, str]:
    """Returns the thing whose replicas are written, and what of one of them is aimed at; empty where it is other."""
    target, actuation = loop.target, loop.actuation
    if target is None or target.signal is None or actuation is None or actuation.signal is None:
        return "", ""
    thing, _, written = actuation.signal.text.partition(".")
    other, _, signal = str(target.signal).partition(".")
    return (thing, signal) if written == "replicas" and other == thing and signal.isidentifier() else ("", "")


def _each(component: Component, signal: str) -> str:
    """Returns what one replica has of the demand; empty where the manifests do not tell."""
    whole, replicas = f"{component.name}.{DEMAND}", f"{component.name}.replicas"
    if "memory" in signal:
        return ""
    if signal != "cpu":
        return f"{whole} / {replicas}"
    request = component.needs.get("cpu") if isinstance(component.needs, dict) else None
    return f"{whole} / ({replicas} * {request.text})" if request is not None else ""


def _remedy(thing: str, signal: str, each: str) -> str:
    if "memory" in signal:
        return f"state what {thing}.{signal} is made of: memory seldom falls as replicas are added"
    if not each:
        return f"{thing} requests no cpu: without a request there is no utilization"
    return f"a metric of your own for the sum of {signal} over the replicas of {thing}"


def queries(fact: AskedFact, target: FactTarget) -> Iterator[FactQuery]:
    """Yields the processor time of the containers, or the sum of the metric that the loop reads."""
    if not fact.also or not target.is_workload:
        return
    signal = fact.also[0][0][-1]
    if signal in ("cpu", "cpu_amount"):
        pods = target.pods('container!=""', 'container!="POD"')
        usage = f"sum(rate(container_cpu_usage_seconds_total{{{pods}}}[5m]))"
        yield FactQuery(usage, "cAdvisor", "over time", note=f"means of 5 min, {EVENLY}")
    else:
        name = escaped(signal).replace("_", "[_:]")
        series = f'{{__name__=~"{name}",{target.pods()}}}'
        summed = f"sum(rate({series}[5m]))" if signal.endswith("_total") else f"sum({series})"
        yield FactQuery(summed, "the metric that the loop reads", "over time", note=EVENLY)
