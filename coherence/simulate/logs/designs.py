"""Writes the facts of a recorded run as a design: pods, what the autoscaler reads of them, applies, autoscaler."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_decimal
from coherence.simulate.logs.facts import Pod, ReplayFacts, facts_of
from coherence.simulate.logs.runs import RunFiles
from coherence.simulate.logs.tables import utc


def design_text(run: RunFiles) -> str:
    """Returns the design of a recorded run, as YAML."""
    return written(facts_of(run))


def written(facts: ReplayFacts) -> str:
    """Returns the same from the facts.  Pods that were never measured live as the last one that was."""
    slots = [facts.pods[min(n, len(facts.pods) - 1)] for n in range(facts.most)]
    lines = [
        "coherence: 1",
        f"system: replay of {facts.name}",
        f"summary: Time 0 is {utc(facts.origin)}. metrics-server renews its readings every {facts.poll} s.",
        "",
        "components:",
        *_app(facts.most),
        *(line for n, pod in enumerate(slots, 1) for line in _pod(n, pod, facts)),
        f"  reading: {{uses: hpa_cpu_reading, setpoint: {_percent(facts.setpoint)}, replicas: app.replicas,",
        "            counted: app.counted, missing: app.missing, used: app.used}",
        "",
        "loops:",
        *(
            line
            for n, write in enumerate(facts.writes, 1)
            for line in _apply(n, write.time, write.replicas, write.file)
        ),
        *(_classic(facts) if facts.behavior.hold_down is None else _behaving(facts, facts.behavior.hold_down)),
    ]
    return "\n".join(lines) + "\n"


def _app(most: int) -> Iterator[str]:
    yield "  app:"
    for key, output in (("counted", "counts"), ("missing", "missing"), ("used", "used")):
        yield f"    {key}: {' + '.join(f'pod{n}.{output}' for n in range(1, most + 1))}"


def _pod(ordinal: int, pod: Pod, facts: ReplayFacts) -> Iterator[str]:
    first, last = pod.counted_first, pod.counted_last
    counted = f"{first} s .. {last} s" if first < last else f"{last} s"
    low, high = facts.placeable
    room = "" if low >= facts.most else f", placeable: {low if low == high else f'{low} .. {high}'}"
    yield f"  pod{ordinal}:{' ' * (3 - len(str(ordinal)))}# measured: {pod.name}"
    yield f"    {{uses: metered_pod, ordinal: {ordinal}, replicas: app.replicas{room},"
    yield f"     runs: {pod.runs} s, seen: {pod.seen} s, counted: {counted},"
    yield f"     cpu: {_by_age(f'pod{ordinal}.age', pod)}}}"


def _by_age(age: str, pod: Pod) -> str:
    """`1.01 if age < 28 s else 1 if age < 38 s else 0`: each reading until the age of the next."""
    values = [share for _, share in pod.cpu]
    ends = [moment for moment, _ in pod.cpu[1:]]
    pieces = [f"{render_decimal(share)} if {age} < {end} s else" for share, end in zip(values, ends, strict=False)]
    return " ".join([*pieces, render_decimal(values[-1])])


def _apply(number: int, time: int, replicas: int, file: str) -> Iterator[str]:
    yield f"  apply{number}:  # {file}"
    yield "    objective: the number of replicas in the manifest"
    yield f"    timescale: {{period: 24 h, phase: {time} s}}"
    yield f"    actuation: {{signal: app.replicas, law: set, to: {replicas}, mode: once, from: 0}}"


def _behaving(facts: ReplayFacts, hold_down: Fraction) -> Iterator[str]:
    yield "  hpa:"
    yield "    uses: kubernetes_hpa"
    yield f"    target: {{signal: reading.measured, setpoint: {_percent(facts.setpoint)}}}"
    yield f"    timescale: {{phase: {facts.first_sync} s, hold_down: {render_decimal(hold_down)} s}}"
    yield f"    actuation: {{signal: app.replicas, bounds: [{facts.least}, {facts.most}],"
    yield f"                rate: [{', '.join(facts.behavior.rates)}]}}"


def _classic(facts: ReplayFacts) -> Iterator[str]:
    inside = f"app.replicas >= {facts.least} and app.replicas <= {facts.most}"
    yield "  note:"
    yield "    uses: kubernetes_hpa_recommendation"
    yield "    target: {signal: reading.wanted}"
    yield f"    timescale: {{phase: {facts.first_sync} s}}"
    yield f"    trigger: app.counted > 0 and {inside}"
    yield "    actuation: {signal: app.noted, to: reading.wanted, from: 0}"
    yield "  hpa:"
    yield "    uses: kubernetes_hpa_classic"
    yield "    target: {signal: app.noted}"
    yield f"    timescale: {{phase: {facts.first_sync} s}}"
    yield f"    trigger: app.counted > 0 or not ({inside})"
    yield f"    actuation: {{signal: app.replicas, bounds: [{facts.least}, {facts.most}],"
    yield f'                to: "min(app.noted, max(2 * app.replicas, 4)) if {inside} else app.replicas"}}'


def _percent(share: Fraction) -> str:
    return f"{render_decimal(share * 100)} %"
