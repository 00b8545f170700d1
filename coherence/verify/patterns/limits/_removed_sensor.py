"""Finds a sensor whose only copy goes where another loop takes members away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Question, arithmetic
from coherence.language import names
from coherence.language.design import Component, Loop
from coherence.language.expressions import names as used
from coherence.verify.facts.design_facts import DesignFacts, copies
from coherence.verify.timers.recurrences import comes_back


def removed(question: Question, facts: DesignFacts, removing: Iterable[tuple[Loop, str]]) -> Iterator[Finding]:
    """Yields one answer per loop that removes members of a thing and loop that reads what has its only copy there."""
    reading = [(loop, sensor) for loop in facts.design.loops.values() for sensor in _sensors(facts, loop)]
    for remover, host in removing:
        for reader, sensor in reading:
            alone = _alone(facts, sensor)
            if reader.name == remover.name or sensor.runs_on is None or sensor.runs_on.text != host or not alone:
                continue
            places = _places(remover, reader, sensor, host)
            of = (remover.name, reader.name, sensor.name)
            again = comes_back(sensor)
            if again is None:
                needs = f"needs returns of {sensor.name}: {remover.name} may take the {host} of the only one away"
                yield question.undecided(f"{needs}, and {reader.name} reads it", places, of)
            elif not again:
                yield _lost(question, (remover, reader), sensor, host, places)


def _sensors(facts: DesignFacts, loop: Loop) -> Iterator[Component]:
    """Returns the components whose signals the loop reads, other than those that it acts on, and what its sensor
    names.
    """
    read = {facts.bare.get(path, path) for formula in names.loop_formulas(loop) for path in used(formula.tree)}
    links = loop.target.sensor if loop.target is not None else ()
    words = {word for link in links if link.kind == "sees" for word in link.what.replace(".", " ").split()}
    things = ({path.partition(".")[0] for path in read} | words) - {loop.written.partition(".")[0]}
    return (component for name, component in facts.design.components.items() if name in things)


def _alone(facts: DesignFacts, sensor: Component) -> bool:
    """Returns whether there is one of it, as far as the design says."""
    many = copies(facts, sensor.name)
    return many is None or many.high is None or many.high <= 1


def _places(remover: Loop, reader: Loop, sensor: Component, host: str) -> tuple[Place, ...]:
    return (
        remover.place.labelled(f"takes members of {host} away"),
        sensor.place.labelled(f"its only copy runs on {host}"),
        reader.place.labelled(f"reads {sensor.name}"),
    )


def _lost(
    question: Question, loops: tuple[Loop, Loop], sensor: Component, host: str, places: tuple[Place, ...]
) -> Finding:
    remover, reader = loops
    message = f"{remover.name} may take away the {host} on which the only {sensor.name} runs: {reader.name} reads it"
    witness = (
        Step(None, f"{remover.name} takes the {host} of {sensor.name} away"),
        Step(None, f"{sensor.name} does not come back: {reader.name} has no reading any more and stands still"),
    )
    return question.conflict(
        message, places, (remover.name, reader.name, sensor.name), arithmetic({"copies": (1, "")}, witness=witness),
        certain=False,
    )  # fmt: skip
