"""Tells every finding that is no proof, with its lines, its timeline, its figures and its repairs; then the proofs."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import badge, note, pictured, reproduced, table, verdict_text
from coherence.base.number_text import render_duration, render_figure
from coherence.findings.finding import Finding, Repair, Step, Verdict
from coherence.reporting._edits import hunks
from coherence.reporting._paint import paint
from coherence.reporting._snippet import snippets
from coherence.reporting.pictures.markup import Child, Element, h
from coherence.reporting.pictures.timeline import timeline

ORDER, TITLE = 40, "Findings"
MOST_REPAIRS, MOST_STEPS = 4, 40


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns an article for each open finding, and one table of all proofs."""
    articles = [_article(assessment, finding) for finding in assessment.open_findings]
    proofs = assessment.of_verdict(Verdict.PROVED)
    rows = [
        (
            h("span", assessment.anchor(f), id=assessment.anchor(f), class_="anchor"),
            f.code,
            f.message,
            verdict_text(f),
            f.evidence.method,
        )
        for f in proofs
    ]
    shown = (
        table("What is proved", ("no.", "question", "answer", "how sure", "by"), rows) if rows else note("No proof.")
    )
    none = note("Nothing is open.") if not articles else ""
    return (*articles, none, h("h3", "Proofs"), shown, reproduced("check", assessment.path, "--verbose"))


def _article(assessment: Assessment, finding: Finding) -> Element:
    anchor = assessment.anchor(finding)
    head = h(
        "p",
        h("span", anchor, class_="anchor"), " ", badge(finding.verdict), " ",
        h("span", f"{finding.severity.value} {finding.code} {finding.slug}", class_="code"),
        class_="kind",
    )  # fmt: skip
    parts = [head, h("h3", finding.message), *_lines(assessment, finding), *_run(assessment, finding)]
    parts += [*_figures(finding), *_known(finding), *_repairs(assessment, finding)]
    return h("article", *parts, id=anchor, class_=f"finding {finding.verdict.value}")


def _lines(assessment: Assessment, finding: Finding) -> Iterator[Child]:
    """Yields the lines of the input, marked where the finding stands; of a page that names nobody none."""
    if finding.places and not assessment.anonymous:
        rows = snippets(finding.places, assessment.report.sources, width=96, style="plain")
        text = "\n".join(paint(row, colour=False) for row in rows)
        yield _listing(text, "Lines of the input")


def _listing(text: str, label: str) -> Element:
    """Returns lines of text as they are; each line is shown by itself, so that no control goes out."""
    lines = [child for line in text.split("\n") for child in (line, h("br"))]
    return h("pre", h("code", *lines[:-1]), tabindex="0", role="group", aria_label=label)


def _run(assessment: Assessment, finding: Finding) -> Iterator[Child]:
    """Yields the run that shows the finding, as a picture and as a list."""
    drawn = timeline(finding, title=f"{finding.code} in {assessment.system}: how it happens")
    if drawn is None:
        return
    how = "replayed step by step by the exact executor" if finding.evidence.replayed else "as the proof found it"
    yield pictured(drawn, f"How it happens, {how}.")
    steps = finding.evidence.witness
    if any(len(step.text) > 90 for step in steps) or len(steps) > 24:
        rows = [(_clock(step), step.text) for step in steps[:MOST_STEPS]]
        yield table("Steps of the run", ("time", "step"), rows, numbers="0")


def _clock(step: Step) -> str:
    return "" if step.time is None else render_duration(step.time)


def _figures(finding: Finding) -> Iterator[Child]:
    rows = [(name, render_figure(value, unit)) for name, (value, unit) in finding.evidence.numbers.items()]
    if rows:
        yield table("Figures that decided", ("figure", "value"), rows, numbers="1")


def _known(finding: Finding) -> Iterator[Child]:
    """Yields how well it is known, how far a search got, and what is assumed."""
    evidence = finding.evidence
    parts = [verdict_text(finding), evidence.method, f"evidence: {evidence.grade.value}"]
    parts += [f"bound: {evidence.bound}"] if evidence.bound else []
    parts += ["cut short by a time limit"] if evidence.cut_short else []
    yield h("p", "; ".join(filter(None, parts)), ".", class_="note")
    if finding.assumptions:
        yield h("p", "Assumes:", class_="note")
        yield h("ul", *(h("li", text) for text in finding.assumptions), class_="note")


def _repairs(assessment: Assessment, finding: Finding) -> Iterator[Child]:
    repairs = finding.repairs[:MOST_REPAIRS]
    if not repairs:
        if finding.verdict is Verdict.CONFLICT:
            yield note("No change of one number removes it.")
        return
    free = [repair for repair in repairs if not repair.concedes]
    dear = [repair for repair in repairs if repair.concedes]
    if free:
        yield h("h4", "Any one of these removes it" if len(free) > 1 else "This removes it")
        yield h("ul", *(h("li", *_repair(assessment, repair)) for repair in free), class_="repairs")
    if dear:
        yield h("h4", "Not proposed: it buys hardware or relaxes a promise")
        yield h("ul", *(h("li", *_repair(assessment, repair)) for repair in dear), class_="repairs")


def _repair(assessment: Assessment, repair: Repair) -> Iterator[Child]:
    for hunk in hunks(repair.edits, assessment.report.sources) if not assessment.anonymous else ():
        lines = [*(("del", f"- {line}") for line in hunk.removed), *(("ins", f"+ {line}") for line in hunk.added)]
        inner = [child for kind, line in lines for child in (h(kind, line), h("br"))]
        yield h("pre", h("code", *inner), tabindex="0", role="group", aria_label="Change of the input")
    if assessment.anonymous:
        yield "; ".join(f"{edit.old} → {edit.new}" for edit in repair.edits)
    sure = "Repair" if repair.proved else "Candidate, not proved"
    words = f"{sure}: {repair.verified}" + (f"; concedes: {', '.join(repair.concedes)}" if repair.concedes else "")
    yield h("p", words, ".", class_="note")
