"""Runs a design over a schedule of numbers, and reads signals at each second as a loop would see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Choices, execute

Schedule = Sequence[tuple[int, str, Fraction | int]]  # (second from which on, signal, value)


Run = Callable[[Schedule, int], list[list[Fraction]]]


def readings(design: str, signals: Sequence[str], *, phase: Fraction = Fraction(0)) -> Run:
    """Returns what gives the values of each signal in every second of a run, so long after its beginning.

    Loops of the design act before.
    """
    tallies = "\n".join(
        f"  tally{k}: {{rank: 99, timescale: {{period: 1 s, phase: {float(phase)} s}}, "
        f"actuation: {{signal: tally.v{k}, law: set, to: {signal}, from: 0}}}}"
        for k, signal in enumerate(signals)
    )
    head, _, loops = design.partition("\nloops:\n")
    model = elaborate(read_text(f"{head}\nloops:\n{loops}{tallies}\n"))

    def run(schedule: Schedule, until: int) -> list[list[Fraction]]:
        changes = tuple((Fraction(at), path, Fraction(value)) for at, path, value in schedule)
        instants = execute(model, Choices(schedule=changes), until=Fraction(until))
        last = {instant.time: instant.after for instant in instants}
        seconds = [phase + second for second in range(until) if phase + second in last]
        return [[Fraction(last[at][f"tally.v{k}"]) for at in seconds] for k in range(len(signals))]

    return run
