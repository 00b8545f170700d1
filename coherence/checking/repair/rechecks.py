"""Re-checks proposed repairs: each edit is made, the design is read again, and the questions are asked again.

An edit is a repair if nothing is in conflict or vacuous that was not before, and the question that found the conflict
answers `proved` about the same policies; one that is silent where nothing is wrong is asked for a proof of that, and
must not have had it before the edit.  Where the question answers with weaker evidence, or is silent, the edit is a
candidate; so is one that is proved and takes away what a policy is for.  A conflict that became "undecided" is neither.
What a part does not let a repair change is not changed.  The proposals of the question come first; where none is a
repair, the nearest one is searched.  Edits that relax a promise or add hardware rank last.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from coherence.base.errors import CoherenceError
from coherence.base.places import Place
from coherence.checking.repair.adjustable_numbers import forbidden
from coherence.checking.repair.concessions import concessions, patience
from coherence.checking.repair.nearest_repair import Asks, nearest
from coherence.checking.repair.purposes import leaves_idle, purposes_lost
from coherence.findings.edited_designs import Rebuild, edited_subject
from coherence.findings.finding import Edit, Finding, Grade, Repair, Severity, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule
from coherence.language.design import Design

T = TypeVar("T")
AskAll = Callable[[Subject, Iterable[QuestionModule]], list[Finding]]
Key = tuple[str, tuple[str, ...]]

# counts, not times, so that the same input gives the same answer
MOST_REPAIRS = 3  # of a finding
MOST_RECHECKS = 60  # of a whole design: every question
MOST_ASKS = 48  # of a finding: one question
MOST_ASKS_OF_DESIGN = 240
SLOW_ASKS = 16  # of a finding of a question that executes loops
CANDIDATE_SHARE = 3  # of the asks of a finding one in so many is for candidates, where no repair was found
WITHOUT_PURPOSE = "re-checked: proved, and a policy or what it is about is given up"
INSTANTS_OF_AN_ASK = 1000  # so many executed instants count as one ask more


@dataclass(frozen=True)
class RecheckContext:
    """A design, how to read it again after an edit, and what the questions answered."""

    subject: Subject
    rebuild: Rebuild
    modules: Sequence[QuestionModule]
    findings: Sequence[Finding]
    ask_all: AskAll
    absences: AskAll  # the proofs of silent questions that what they look for is not there
    known: dict[object, list[Finding] | None] = field(default_factory=dict, compare=False)  # what was asked already
    subjects: dict[frozenset[Edit], Subject | None] = field(default_factory=dict, compare=False)

    def again(self, edits: tuple[Edit, ...], modules: Sequence[QuestionModule]) -> list[Finding] | None:
        """Returns the findings after edits; None where they do not fit, or the edited text is no design."""
        key = (frozenset(edits), tuple(module.name for module in modules))
        if key not in self.known:
            self.known[key] = self._again(edits, modules)
        return self.known[key]

    def purposes_lost(self, edits: tuple[Edit, ...]) -> int:
        """Returns how many policies no longer do what they are for after edits that fit."""
        edited = self._edited(edits)
        return purposes_lost(self.subject.design, edited.design) if edited is not None else 0

    def leaves_idle(self, edits: tuple[Edit, ...]) -> bool:
        """Decides whether edits that fit leave a timer or a cap that does nothing any more."""
        edited = self._edited(edits)
        return edited is not None and leaves_idle(self.subject.design, edited.design)

    def conceding(self, repair: Repair) -> Repair:
        """Returns a repair that fits, with what it gives up or buys."""
        edited = self._edited(repair.edits)
        given = concessions(self.subject.design, edited.design) if edited is not None else ()
        return replace(repair, concedes=given, verified="; ".join((repair.verified, *given)))

    def rank(self, repair: Repair) -> tuple[int, bool, bool]:
        """Returns by what repairs that fit are ordered: purposes that they cost, what they concede, patience."""
        edited = self._edited(repair.edits)
        waits = edited is not None and bool(patience(self.subject.design, edited.design))
        return self.purposes_lost(repair.edits), bool(repair.concedes), waits

    def disproved(self, finding: Finding, edits: tuple[Edit, ...], modules: Sequence[QuestionModule]) -> bool:
        """Returns whether the question of a conflict proves, of these edits, that it cannot happen any more."""
        after = self.again(edits, modules)
        if after is None or still_found(finding, after):
            return False
        promises = frozenset(self.subject.design.promises)
        left = replace(finding, of=tuple(name for name in finding.of if name not in self._taken_away(edits)))
        if proves(left, after, self.findings, promises):
            return True
        absent = self._absences(edits, self.owners(finding))
        before = [*self.findings, *self._absences((), self.owners(finding))]
        return bool(absent) and proves(left, [*after, *absent], before, promises)

    def _taken_away(self, edits: tuple[Edit, ...]) -> frozenset[str]:
        """Returns the loops that are there no more after edits: nothing is proved about them, only about the others."""
        edited = self._edited(edits)
        loops = edited.design.loops if edited is not None else {}
        return frozenset(name for name in self.subject.design.loops if name not in loops)

    def owners(self, finding: Finding) -> list[QuestionModule]:
        """Returns the modules whose question gave the finding."""
        return [module for module in self.modules if any(q.code == finding.code for q in module.questions)]

    def _absences(self, edits: tuple[Edit, ...], modules: Sequence[QuestionModule]) -> list[Finding]:
        key = (frozenset(edits), "absences", tuple(module.name for module in modules))
        if key not in self.known:
            edited = self._edited(edits) if edits else self.subject
            self.known[key] = [] if edited is None else self.absences(edited, modules)
        return self.known[key] or []

    def _edited(self, edits: tuple[Edit, ...]) -> Subject | None:
        """Returns the subject after edits, the same each time, so that nothing is answered twice about it."""
        key = frozenset(edits)
        if key not in self.subjects:
            self.subjects[key] = edited_subject(self.subject, edits, self.rebuild)
        return self.subjects[key]

    def _again(self, edits: tuple[Edit, ...], modules: Sequence[QuestionModule]) -> list[Finding] | None:
        try:
            edited = self._edited(edits)
            return None if edited is None else self.ask_all(edited, modules)
        except (CoherenceError, RecursionError):
            return None


def with_repairs(context: RecheckContext, *, thorough: bool = False) -> list[Finding]:
    """Returns the findings, each conflict with the repairs that hold.

    First what the questions propose; a conflict for which none of that holds takes a repair of another conflict that
    removes it too; for what is left the nearest repair is searched.  Questions that execute loops with plants or
    varying loads may take seconds each time: with them the search is left to `thorough`.
    """
    conflicts = [f for f in context.findings if f.verdict is Verdict.CONFLICT]
    holding: dict[Key, tuple[Repair, ...]] = {}
    fixed = forbidden(context.subject) if conflicts else frozenset()
    rechecks, asks = itertools.count(), Asks(MOST_ASKS_OF_DESIGN)
    for finding in conflicts:
        free = (r for r in finding.repairs if not any(_inside(edit.place, fixed) for edit in r.edits))
        holding[key_of(finding)] = _holding(finding, free, context, rechecks)
    for finding in conflicts:
        if not _any_proved(holding[key_of(finding)]):
            holding[key_of(finding)] += _borrowed(finding, holding, context)
    for finding in conflicts:
        if not _any_proved(holding[key_of(finding)]):
            searched = _searched(finding, context, asks, thorough=thorough)
            holding[key_of(finding)] += _holding(finding, searched, context, rechecks)
    return [
        replace(finding, repairs=_ranked(holding.get(key_of(finding), ()), context))
        if finding.verdict is Verdict.CONFLICT
        else replace(finding, repairs=())
        for finding in context.findings
    ]


def _any_proved(verified: Iterable[Repair]) -> bool:
    """Returns whether one is proved and gives nothing up that is for people to decide."""
    return any(repair.proved and not repair.concedes for repair in verified)


def _ranked(verified: Sequence[Repair], context: RecheckContext) -> tuple[Repair, ...]:
    """Returns the first repairs, by what they cost the design; candidates where none is proved."""
    proved = [repair for repair in dict.fromkeys(verified) if repair.proved]
    return tuple(sorted(proved or dict.fromkeys(verified), key=context.rank)[:MOST_REPAIRS])


def _holding(
    finding: Finding, offered: Iterable[Repair], context: RecheckContext, rechecks: Iterator[int]
) -> tuple[Repair, ...]:  # fmt: skip
    """Returns the offered edits that are repairs, at most MOST_REPAIRS, and the candidates among those before."""
    verified: list[Repair] = []
    for repair in offered:
        if next(rechecks) >= MOST_RECHECKS:
            break
        verified += _rechecked(finding, repair, context, context.modules)
        if sum(one.proved for one in verified) == MOST_REPAIRS:
            break
    return tuple(verified)


def _borrowed(finding: Finding, holding: Mapping[Key, Sequence[Repair]], context: RecheckContext) -> tuple[Repair, ...]:
    """Returns the repairs and candidates of other conflicts of the same policies that remove this one too."""
    near = [r.edits for (_, of), repairs_of in holding.items() if set(of) & set(finding.of) for r in repairs_of]
    return tuple(
        removing
        for edits in dict.fromkeys(near)
        for removing in _rechecked(finding, Repair(edits, ""), context, context.modules)
    )


def _inside(place: Place, fixed: Collection[Place]) -> bool:
    return any(p.file == place.file and p.line == place.line and p.column <= place.column < p.end_column for p in fixed)


def _searched(finding: Finding, context: RecheckContext, asks: Asks, *, thorough: bool) -> Iterator[Repair]:
    """Yields the nearest repairs, tried with the question that found the conflict; where none is, candidates."""
    own = context.owners(finding)
    executes = any(map(slow, own))
    searched = not executes or thorough or _runs_alone(context.subject.design)
    allowed = Asks(min(asks.left, SLOW_ASKS if executes else MOST_ASKS) if searched else 0)
    before = allowed.left

    def proved(repair: Repair) -> bool:
        return charged(allowed, lambda: _any_proved(_rechecked(finding, repair, context, own)))

    def removed(repair: Repair) -> bool:
        return charged(allowed, lambda: bool(_rechecked(finding, repair, context, own)))

    repaired = False
    for repair in nearest(finding, context.subject, proved, allowed):
        repaired = True
        yield repair
    if not repaired:
        allowed.left = max(allowed.left, before // CANDIDATE_SHARE)
        yield from nearest(finding, context.subject, removed, allowed)
    asks.left -= before - max(0, allowed.left)


def _runs_alone(design: Design) -> bool:
    """Returns whether a few short runs decide: no component has a state of its own, and no load varies."""
    plants = any(component.state is not None for component in design.components.values())
    return not plants and not any(load.rate is not None and load.rate.varies for load in design.workload.values())


def slow(module: QuestionModule) -> bool:
    """Returns whether one answer of the module may take seconds."""
    return any(question.slow for question in module.questions)


def charged(asks: Asks, ask: Callable[[], T]) -> T:
    """Returns the answer, and takes what it executed from the asks that are left."""
    from coherence.simulate.execute.exact import Execution

    before = Execution.executed
    answer = ask()
    asks.left -= (Execution.executed - before) // INSTANTS_OF_AN_ASK
    return answer


def _rechecked(
    finding: Finding, repair: Repair, context: RecheckContext, modules: Sequence[QuestionModule]
) -> list[Repair]:  # fmt: skip
    """Returns the repair with what these questions say after it, or nothing where it does not hold."""
    after = context.again(repair.edits, modules)
    if after is None or not gone(finding, after) or worse(context.findings, after):
        return []
    if context.disproved(finding, repair.edits, modules):
        if context.purposes_lost(repair.edits):
            return [context.conceding(replace(repair, verified=WITHOUT_PURPOSE))]
        return [context.conceding(replace(repair, verified="re-checked: proved", proved=True))]
    if context.leaves_idle(repair.edits):
        return []
    grades = [f.evidence.grade for f in _same(finding, after) if f.verdict is Verdict.PROVED]
    weak = next((grade for grade in grades if grade is not Grade.PROVED), "no conflict is found")
    return [context.conceding(replace(repair, verified=f"re-checked: {weak}, and not proved"))]


def key_of(finding: Finding) -> Key:
    """Returns the code and names of a finding, by which two findings of one design count as the same."""
    return (finding.code, finding.of)


def gone(finding: Finding, after: Iterable[Finding]) -> bool:
    """Returns whether the conflict is answered, and is no conflict any more."""
    answers = _same(finding, list(after))
    if still_found(finding, answers):
        return False
    undecided = any(not f.verdict.decides for f in answers)
    return not undecided or any(f.verdict is Verdict.PROVED for f in answers)


def still_found(finding: Finding, after: Iterable[Finding]) -> bool:
    """Returns whether the same conflict is among the findings."""
    return any(f.verdict is Verdict.CONFLICT and key_of(f) == key_of(finding) for f in after)


def proves(
    finding: Finding, after: Sequence[Finding], before: Iterable[Finding] = (), promises: Collection[str] = ()
) -> bool:  # fmt: skip
    """Returns whether the question of a conflict now answers `proved` about its policies, and nothing else.

    A proof about the same names that stood beside the conflict is about something else; one more of them is not.
    A conflict about promises is over where these are proved: after an edit another policy may be what keeps them.
    """
    owed = set(finding.of).intersection(promises) or set(finding.of)
    about = [f for f in _same(finding, after) if owed <= set(f.of)]
    beside = Counter(key_of(f) for f in before if f.verdict is Verdict.PROVED)
    proved = all(f.verdict is Verdict.PROVED and f.evidence.grade is Grade.PROVED for f in about)
    return proved and bool(Counter(key_of(f) for f in about) - beside)


def _same(finding: Finding, after: Sequence[Finding]) -> list[Finding]:
    return [f for f in after if f.code == finding.code and set(finding.of) & set(f.of)]


def worse(before: Iterable[Finding], after: Iterable[Finding]) -> bool:
    """Returns whether there is a new conflict, vacuous finding or warning, or a proof is lost."""
    known = {(key_of(f), f.verdict): f.severity for f in before}
    proved = {key for key, verdict in known if verdict is Verdict.PROVED}
    for f in after:
        old = known.get((key_of(f), f.verdict))
        loud = f.verdict in (Verdict.CONFLICT, Verdict.VACUOUS) or f.severity is not Severity.INFO
        if old is None and (loud or (not f.verdict.decides and key_of(f) in proved)):
            return True
        if old is Severity.INFO and f.severity is not Severity.INFO:
            return True
    return False
