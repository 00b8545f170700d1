"""Renders the evidence of a finding as labelled lines, which text, Markdown and annotations share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherence.base.number_text import render_duration, render_figure
from coherence.findings.finding import Finding, Grade, Step, Verdict
from coherence.reporting._words import one_line, plural, word

HEAD, TAIL = 8, 4  # steps of a long witness that are shown


@dataclass(frozen=True)
class Note:
    """A label and what it says: one line, or a list of lines."""

    label: str
    lines: tuple[str, ...]


def notes(finding: Finding, *, width: int = 100, verbose: bool = False) -> Iterator[Note]:
    """Yields verdict and method, the figures that decided, the witness and the assumptions of a finding."""
    yield _verdict(finding)
    evidence = finding.evidence
    figures = [
        f"{one_line(name)} = {render_figure(value, one_line(unit))}" for name, (value, unit) in evidence.numbers.items()
    ]
    yield from _folded("figures", figures, width)
    if evidence.witness:
        yield from _witness(evidence.witness, width, HEAD + TAIL if not verbose else len(evidence.witness))
    yield from _folded("assumes", [one_line(text) for text in finding.assumptions], width)
    if verbose:
        yield from _folded("of", [one_line(name) for name in finding.of], width)


def _verdict(finding: Finding) -> Note:
    evidence = finding.evidence
    label = f"{word(finding)} ({finding.certainty})" if finding.certainty else word(finding)
    parts = [one_line(evidence.method)]
    if evidence.grade is not Grade.PROVED and word(finding) != evidence.grade:
        parts.append(f"evidence: {evidence.grade}")
    if evidence.bound:
        parts.append(f"bound: {one_line(evidence.bound)}")
    if evidence.cut_short:
        parts.append("cut short by a time limit")
    if finding.verdict is Verdict.PROVED:
        parts.append(_certificate(evidence.certificate))
    if evidence.replayed:
        parts.append("witness replayed step by step")
    return Note(one_line(label), ("; ".join(part for part in parts if part),))


def _certificate(script: str | None) -> str:
    return f"certificate: SMT-LIB 2, {plural(len(script.splitlines()), 'line')}" if script else "no certificate"


def _folded(label: str, items: Sequence[str], width: int) -> Iterator[Note]:
    """Yields the items on one line where that is short enough, else one line each; nothing for no items."""
    line = "; ".join(items)
    if items:
        yield Note(label, (line,) if len(line) + len(label) + 8 <= width else tuple(items))


def _witness(steps: Sequence[Step], width: int, limit: int) -> Iterator[Note]:
    line = "; ".join(
        f"{render_duration(s.time)}: {one_line(s.text)}" if s.time is not None else one_line(s.text) for s in steps
    )
    if len(steps) <= HEAD and len(line) + 16 <= width:
        yield Note("witness", (line,))
        return
    shown = steps if len(steps) <= limit else (*steps[:HEAD], *steps[-TAIL:])
    times = ["" if step.time is None else render_duration(step.time) for step in shown]
    column = max(map(len, times))
    rows = [f"{time:<{column}}  {one_line(step.text)}".rstrip() for time, step in zip(times, shown, strict=True)]
    if len(shown) < len(steps):
        rows.insert(HEAD, f"{'':<{column}}  ... {len(steps) - len(shown)} more")
    yield Note("witness", tuple(rows) if column else tuple(row.strip() for row in rows))
