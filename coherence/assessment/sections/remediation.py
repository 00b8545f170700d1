"""Orders what can be done: changes of settings first, by how many findings they remove and how grave these are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherence.assessment.parts.answers import ORDER as SEVERITIES
from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import joined, note, reference, reproduced, table
from coherence.assessment.sections.auditability import unlogged
from coherence.findings.finding import Edit, Finding, Repair, Verdict
from coherence.language.design import Loop
from coherence.language.entries.leaves import leaves
from coherence.reporting.pictures.markup import Child, h

ORDER, TITLE = 110, "Remediation plan"
CLASSES = ("change a setting", "try a setting", "decide by hand", "state a number", "log a decision")


@dataclass(frozen=True)
class PlanStep:
    """What is done, how dear that is, whose it is, and the findings that it is for."""

    class_: str
    what: str
    owner: str
    effect: str
    findings: tuple[Finding, ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        """Returns the place in the plan: cheap, grave and many first."""
        gravest = min((SEVERITIES.index(finding.severity) for finding in self.findings), default=9)
        return CLASSES.index(self.class_), gravest, -len(self.findings)


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the plan, and what is left out of it because it buys hardware or relaxes a promise."""
    steps = plan(assessment)
    if not steps:
        return (note("No step: no conflict was found, no question lacks a number, and decisions are logged."),
                *_left_open(assessment))  # fmt: skip
    rows = [
        (str(at), step.class_, step.what, step.owner, joined([reference(assessment.anchor(f)) for f in step.findings]),
         step.effect)
        for at, step in enumerate(steps, 1)
    ]  # fmt: skip
    header = ("step", "cost class", "what", "owner", "for", "effect, re-checked")
    conceding = [f for f in assessment.of_verdict(Verdict.CONFLICT) if any(repair.concedes for repair in f.repairs)]
    left = (
        note(f"Not proposed: for {len(conceding)} findings there are changes that buy hardware or relax a promise; "
             "they stand with the finding.")
        if conceding else ""
    )  # fmt: skip
    whole = note("Each change was re-checked by itself. All together: the command below, which writes nothing.")
    return (table("In this order", header, rows, numbers="0"), left, *_left_open(assessment), whole,
            reproduced("check", "--diff", assessment.path))  # fmt: skip


def plan(assessment: Assessment) -> list[PlanStep]:
    """Returns the steps in order; a change that several findings share is one step."""
    shared: dict[tuple[Edit, ...], list[tuple[Finding, Repair]]] = {}
    steps: list[PlanStep] = []
    for finding in assessment.of_verdict(Verdict.CONFLICT):
        free = [repair for repair in finding.repairs if not repair.concedes]
        chosen = min(free, key=lambda repair: (not repair.proved, len(repair.edits)), default=None)
        if chosen is None:
            steps.append(PlanStep(CLASSES[2], _by_hand(finding), owners(assessment, finding), "none known", (finding,)))
        else:
            shared.setdefault(chosen.edits, []).append((finding, chosen))
    steps += [_change(assessment, edits, pairs) for edits, pairs in shared.items()]
    steps += (*_open(assessment), *_unlogged(assessment))
    return sorted(steps, key=lambda step: step.rank)


def _change(assessment: Assessment, edits: Sequence[Edit], pairs: Sequence[tuple[Finding, Repair]]) -> PlanStep:
    proved = all(repair.proved for _, repair in pairs)
    what = "; ".join(
        f"{_key(assessment, edit)}: {edit.old} → {edit.new} ({_where(assessment, edit)})" for edit in edits
    )
    effect = "; ".join(dict.fromkeys(repair.verified for _, repair in pairs))
    return PlanStep(
        CLASSES[0] if proved else CLASSES[1], what, owners(assessment, pairs[0][0]), effect,
        tuple(finding for finding, _ in pairs),
    )  # fmt: skip


def _key(assessment: Assessment, edit: Edit) -> str:
    """Returns the key and the thing that an edit is about."""
    at = (edit.place.line, edit.place.column)
    leaf = next(
        (leaf for leaf in leaves(assessment.design)
         if leaf.place.file == edit.place.file
         and (leaf.place.line, leaf.place.column) <= at < (leaf.place.end_line, leaf.place.end_column)),
        None,
    )  # fmt: skip
    return f"{leaf.key} of {leaf.entry}" if leaf is not None else "what is written"


def _where(assessment: Assessment, edit: Edit) -> str:
    """Returns the file and the line of an edit."""
    line = f"line {edit.place.line}"
    return line if assessment.anonymous else f"{edit.place.file}, {line}"


def _by_hand(finding: Finding) -> str:
    hard = any(repair.concedes for repair in finding.repairs)
    more = ": hardware or a promise would have to change" if hard else ""
    return f"{finding.message}: no setting alone removes it{more}"


def _open(assessment: Assessment) -> Iterator[PlanStep]:
    for finding in assessment.of_verdict(Verdict.UNDECIDED):
        if finding.lacks_number:
            yield PlanStep(
                CLASSES[3], finding.message, owners(assessment, finding), "the question is answered", (finding,)
            )


def _unlogged(assessment: Assessment) -> Iterator[PlanStep]:
    """Yields what loops have to log so that their decisions can be told afterwards: a step for each owner."""
    missing: dict[tuple[str, str], list[str]] = {}
    for loop in assessment.design.loops.values():
        if fields := unlogged(loop):
            missing.setdefault((", ".join(fields), _owner(loop)), []).append(loop.name)
    for (logged, owner), loops in missing.items():
        yield PlanStep(CLASSES[4], f"{', '.join(loops)}: {logged}", owner, "decisions can be told afterwards", ())


def _left_open(assessment: Assessment) -> Iterator[Child]:
    """Yields which questions stay open whatever the plan changes."""
    still = [finding for finding in assessment.of_verdict(Verdict.UNDECIDED) if not finding.lacks_number]
    if still:
        anchors = joined([reference(assessment.anchor(finding)) for finding in still])
        yield h("p", "Left open, with no step known that decides it: ", anchors, ".", class_="note")


def owners(assessment: Assessment, finding: Finding) -> str:
    """Returns whom the policies of a finding belong to: their contact, else their layer."""
    loops = [assessment.design.loops[name] for name in finding.of if name in assessment.design.loops]
    stated = [loop for loop in loops if loop.contact or loop.layer]
    return ", ".join(dict.fromkeys(map(_owner, stated))) or "not stated"


def _owner(loop: Loop) -> str:
    if loop.contact:
        return loop.contact.text
    return f"{loop.layer} layer" if loop.layer else "not stated"
