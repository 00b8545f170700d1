"""Asks every question about a design, re-checks the repairs, and accounts for every pair of policies."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from coherence import names, repairs
from coherence.design import Design
from coherence.errors import CoherenceError, InputError
from coherence.expressions.evaluate import NotExactError
from coherence.finding import Accounting, Evidence, Finding, Grade, Repair, Severity, Verdict
from coherence.questions import Asker, askers
from coherence.subject import Subject
from coherence.values import value

Rebuild = Callable[[Mapping[str, str]], Design]
MOST_REPAIRS = 3
MOST_RECHECKS = 60  # of a whole design: a count, not a time, so that the same input gives the same answer


@value
class Answers:
    """All findings about one design, and the accounting of its pairs."""

    findings: tuple[Finding, ...]
    accounting: Accounting
    assumptions: tuple[str, ...]


def analyse(
    design: Design,
    sources: Mapping[str, str],
    rebuild: Rebuild,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    time_limit: float = 20.0,
    verify_repairs: bool = True,
) -> Answers:
    """Every question that `select` and `ignore` (prefixes of codes) leave, answered."""
    chosen = [asker for asker in askers() if _wanted(asker, select, ignore)]
    subject = Subject(design, sources, time_limit)
    findings = [_own_place_first(f, sources) for f in ask_all(subject, chosen) if passes(f.code, select, ignore)]
    if verify_repairs:
        budget = itertools.count()
        findings = [_with_checked_repairs(f, subject, rebuild, chosen, findings, budget) for f in findings]
    else:
        findings = [replace(f, repairs=()) for f in findings]
    ordered = tuple(sorted(findings, key=order_key))
    outside = tuple(f"{name} is outside the design: its signals may take any value" for name in names.outside(design))
    return Answers(ordered, account(design, ordered), outside)


def _own_place_first(finding: Finding, sources: Mapping[str, str]) -> Finding:
    """The reader's own lines lead; the places of a part's defaults come after them."""
    return replace(finding, places=tuple(sorted(finding.places, key=lambda place: place.file not in sources)))


def order_key(finding: Finding) -> tuple[object, ...]:
    """Errors first, then by place, code and names: the same order in every run."""
    rank = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    place = finding.places[0] if finding.places else None
    where = (place.file, place.line, place.column) if place else ("", 0, 0)
    return (rank[finding.severity], where, finding.code, finding.of, finding.verdict, finding.message)


def _wanted(asker: Asker, select: Sequence[str], ignore: Sequence[str]) -> bool:
    return any(passes(question.code, select, ignore) for question in asker.questions)


def passes(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Is the code asked for?"""
    return (not select or any(code.startswith(p) for p in select)) and not any(code.startswith(p) for p in ignore)


def ask_all(subject: Subject, chosen: Iterable[Asker]) -> list[Finding]:
    """Every answer; a question that cannot be carried out answers `undecided` with its reason."""
    found: list[Finding] = []
    for asker in chosen:
        try:
            found += asker.ask(subject)
        except InputError:
            raise
        except (NotExactError, CoherenceError, RecursionError, OverflowError) as error:
            found.append(_failed(asker, subject, error))
    return found


def _failed(asker: Asker, subject: Subject, error: Exception) -> Finding:
    question = asker.questions[0]
    places = tuple(loop.place for loop in list(subject.design.loops.values())[:1])
    reason = str(error) or type(error).__name__
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=reason)
    return Finding(
        question.code,
        question.slug,
        Verdict.UNDECIDED,
        Severity.INFO,
        f"not decided: {reason}",
        places,
        tuple(subject.design.loops),
        evidence,
    )


def _with_checked_repairs(
    finding: Finding, subject: Subject, rebuild: Rebuild, chosen: list[Asker], before: list[Finding],
    budget: Iterator[int],
) -> Finding:  # fmt: skip
    """The finding with only those repairs after which nothing is in conflict that was not before."""
    kept: list[Repair] = []
    for repair in finding.repairs:
        if len(kept) == MOST_REPAIRS or next(budget) >= MOST_RECHECKS:
            break
        verdict = _recheck(finding, repair, subject, rebuild, chosen, before)
        if verdict:
            kept.append(replace(repair, verified=verdict))
    return replace(finding, repairs=tuple(kept))


def _recheck(
    finding: Finding, repair: Repair, subject: Subject, rebuild: Rebuild, chosen: list[Asker], before: list[Finding]
) -> str:
    """What the re-check found, or nothing where the repair does not hold."""
    sources = repairs.apply(repair.edits, subject.sources)
    if sources is None:
        return ""
    try:
        changed = Subject(rebuild(sources), sources, subject.time_limit)
        after = ask_all(changed, chosen)
    except InputError:
        return ""
    known = {(f.code, f.of) for f in before if f.verdict is Verdict.CONFLICT}
    conflicts = {(f.code, f.of) for f in after if f.verdict is Verdict.CONFLICT}
    if (finding.code, finding.of) in conflicts or conflicts - known:
        return ""
    same = [f for f in after if f.code == finding.code and set(finding.of) & set(f.of)]
    if any(f.verdict is Verdict.UNDECIDED for f in same) and not any(f.verdict is Verdict.PROVED for f in same):
        return ""
    return "re-checked: proved" if any(f.verdict is Verdict.PROVED for f in same) else "re-checked: no conflict"


def policies(design: Design) -> tuple[str, ...]:
    """Everything that decides: loops, calls, timers and limits."""
    return (*design.loops, *dict.fromkeys(call.name for call in design.calls), *design.timers, *design.limits)


def account(design: Design, findings: Iterable[Finding]) -> Accounting:
    """Every pair of policies once: the worst verdict that names both, else safe where they share nothing."""
    known = policies(design)
    verdicts: dict[frozenset[str], Verdict] = {}
    for finding in findings:
        for pair in itertools.combinations(sorted(set(finding.of) & set(known)), 2):
            key = frozenset(pair)
            verdicts[key] = _worse(verdicts.get(key), finding.verdict)
    touched = {name: things_of(design, name) for name in known}
    counts = dict.fromkeys(("conflict", "safe", "undecided", "not_modelled"), 0)
    for one, other in itertools.combinations(known, 2):
        counts[_class(verdicts.get(frozenset((one, other))), bool(touched[one] & touched[other]))] += 1
    return Accounting(len(known), **counts)


def _worse(one: Verdict | None, other: Verdict) -> Verdict:
    ranks = [Verdict.PROVED, Verdict.VACUOUS, Verdict.UNDECIDED, Verdict.CONFLICT]
    return other if one is None or ranks.index(other) > ranks.index(one) else one


def _class(verdict: Verdict | None, shared: bool) -> str:
    if verdict is None:
        return "not_modelled" if shared else "safe"
    return {
        Verdict.CONFLICT: "conflict",
        Verdict.PROVED: "safe",
        Verdict.UNDECIDED: "undecided",
        Verdict.VACUOUS: "undecided",
    }[verdict]


def things_of(design: Design, name: str) -> frozenset[str]:
    """The things that a policy reads or writes: the words before the dots."""
    found: set[str] = set()
    if name in design.loops:
        loop = design.loops[name]
        for formula in names.loop_formulas(loop):
            found |= {path.split(".")[0] for path in _paths(formula)}
        if loop.actuation:
            found |= {w.text.split(".")[0] for w in (loop.actuation.signal, loop.actuation.evict) if w}
    for call in design.calls:
        if call.name == name:
            found |= {end.text for end in (call.caller, call.callee) if end}
    if name in design.timers:
        timer = design.timers[name]
        found |= {
            e.thing if e.kind != "outside" else e.text for e in (timer.start, timer.unless, timer.then) if e is not None
        }
    if name in design.limits and design.limits[name].counts is not None:
        counts = design.limits[name].counts
        found |= {path.split(".")[0] for path in _paths(counts)}
    bare = names.bare_names(design)
    return frozenset(bare[thing].split(".")[0] if thing in bare else thing for thing in found if thing != "always")


def _paths(formula: object) -> tuple[str, ...]:
    from coherence.expressions import names as used

    return used(formula.tree)  # type: ignore[attr-defined]
