"""Takes back proofs that something touches which their question did not read, and those whose policies never act.

So it does with those that have no certificate, which nobody could check again.

What may change a signal or an event that a proof is about stands in `influences.py`.  It has to be read by the question
that proved: that another one has read it says nothing of this proof.  What can only take runs away, a loop that evicts
or a limit, leaves a proof that nothing bad happens standing, and the proof says so; it takes back a proof that
something comes to be.  Proofs of what members serve say that nothing is taken out, a proof without a promise that
it takes rates as stated.  A question may say what its proofs hold regardless of (sums of claims: of any delay), and
values of the policies themselves that no question reads are named in the proof.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade, NotRead, Severity, Verdict
from coherence.findings.influences import BURST, STOP, WAIT, WHOLE, PossibleInfluence, influences
from coherence.findings.proof_words import words_of, words_of_entry
from coherence.language.design import Design
from coherence.language.words import MEMBERS, STATES
from coherence.model.boundaries import unplaced

SAFETY = ("always", "never", "before", "sends")
COMES_TO_REST = ("COH225", "COH226", "COH232", "COH30")  # codes whose proofs say that something ends
ONLY_REMOVES = "{} is not read; it can only take runs away"
NO_WAIT = "{} is not read; no wait for a place in it is counted"
NO_QUEUE = "no wait for {} is counted, which carries what first tries bring"
CARRIES = "COH508"  # its proof says that a link carries what comes: what goes over it can only wait there
STEADY = "{} is not read; the rate stays as it is stated"
NOBODY_GOES = "{} is not read; nothing is taken out by it"
SERVED = ("COH224", "COH240", "COH245", "COH250", "COH251", "COH252", "COH501")  # what members that stay can serve
STATED = frozenset(  # proofs of times, tries and loads as they are stated: who reads a loop that sets one names it
    f"COH{n}" for n in (201, 203, 204, 206, 207, 208, 210, 218, 221, 224, 243, 245, 246, 247, 250, 251, 252)
)
MEMBERS_LIE = ("COH211", "COH212", "COH227", "COH229")  # proofs that count all members of things, named or not
ALONE = ("COH232", "COH30")  # codes whose proofs are about the loops alone
MANY_REMOVE = "{} are not read; they can only take runs away"
WHATEVER = "this holds whatever {} says"
UNREAD = "{} is not read"
LANDED = "members of {} come and go within `lands` of {}"
POLICIES = ("loops", "calls", "timers", "limits", "jobs")


def spot(place: Place) -> tuple[str, int, int]:
    """Returns where a place begins."""
    return place.file, place.line, place.column


@dataclass(frozen=True)
class Prover:
    """What a question has read of a design, and the kinds of influence that its proofs hold regardless of.

    `of` and `spots`: the entries that its answers speak of (None: all), and file, line and column of their places.
    """

    read: frozenset[Place]
    regardless: frozenset[str] = frozenset()
    of: frozenset[str] | None = None
    spots: frozenset[tuple[str, int, int]] = frozenset()

    def has_read(self, influence: PossibleInfluence, named: Collection[str] = WHOLE[1:]) -> bool:
        """Decides whether the question has read an influence; of sections `named` only where an answer speaks of it."""
        if self.read.isdisjoint(influence.places):
            return False
        about = self.of is None or influence.section not in named or influence.name in self.of
        return about or any(spot(place) in self.spots for place in influence.places)


NOBODY = Prover(frozenset())


def standing(
    design: Design, findings: Sequence[Finding], provers: Mapping[str, Prover], not_read: Iterable[NotRead] = ()
) -> tuple[Finding, ...]:
    """Returns the findings, each proof that what its question did not read touches, or nothing supports, taken back."""
    findings = [_uncertain(design, finding, provers.get(finding.code, NOBODY)) for finding in findings]
    if not any(finding.verdict is Verdict.PROVED for finding in findings):
        return tuple(findings)
    findings = [_uncertified(finding) for finding in findings]
    refuted = {words: finding for finding in findings for words in finding.refutes}
    idle = {f.of[0] for f in findings if f.verdict is Verdict.VACUOUS and len(f.of) == 1 and f.of[0] in design.loops}
    unread = _unread_keys(not_read)
    of_links = (f for f in findings if f.code == CARRIES)
    weighed = [_weighed(design, f, provers.get(f.code, NOBODY), idle, unread) for f in of_links]
    full = {spot(place) for f in weighed if f.verdict is not Verdict.PROVED for place in f.places}
    carried = {spot(place) for f in weighed for place in f.places} - full
    stands = (
        _weighed(design, finding, provers.get(finding.code, NOBODY), idle, unread, carried)
        if finding.verdict is Verdict.PROVED and refuted.keys().isdisjoint(finding.assumptions)
        else finding
        for finding in findings
    )
    return tuple(_refuted(finding, refuted) for finding in stands)


def overturning(design: Design, loops: Iterable[str], read: frozenset[Place]) -> PossibleInfluence | None:
    """Returns what may change something of loops that are proved to settle and was not read; None where nothing may."""
    words = frozenset(word for name in loops for word in words_of_entry(design, name))
    touching = _touching(design, words, Prover(read))
    return next(
        (i for i in touching if i.kind not in (WAIT, BURST) and not (i.kind == STOP and i.removes(words))), None
    )


def no_waits(names: Iterable[str]) -> tuple[str, ...]:
    """Returns that no wait for a place in some limits is counted, as proofs say it that have not read them."""
    return tuple(NO_WAIT.format(f"limits.{name}") for name in names)


def taken_out(design: Design, name: str) -> tuple[str, ...]:
    """Returns that a loop or timer takes nothing out, as proofs say it that have not read it."""
    sections = (section for section in ("loops", "timers") if name in getattr(design, section))
    return tuple(NOBODY_GOES.format(f"{section}.{name}") for section in sections)


def _uncertain(design: Design, finding: Finding, prover: Prover) -> Finding:
    """Returns a certain conflict of stated numbers as a possible one where a loop that it does not name sets them."""
    if finding.certainty != "certain" or not design.loops or finding.code not in (*STATED, CARRIES):
        return finding
    words = words_of(design, finding)
    setting = [i.name for i in _touching(design, words, prover, WHOLE) if i.section == "loops" and i.words & words]
    if not setting:
        return finding
    stated = (f"{name} leaves as it is stated what it sets" for name in dict.fromkeys(setting))
    return replace(
        finding, certainty="possible", severity=Severity.WARNING, assumptions=(*finding.assumptions, *stated)
    )


def _uncertified(finding: Finding) -> Finding:
    """Returns a proof that no solver can check again as undecided; any other finding as it is."""
    if finding.verdict is not Verdict.PROVED or finding.evidence.certificate is not None:
        return finding
    evidence = replace(finding.evidence, grade=Grade.BOUNDED, bound="a certificate that a solver confirms in time")
    message = f"needs a certificate that a solver confirms, too long here to write or to check: {finding.message}"
    return replace(finding, verdict=Verdict.UNDECIDED, severity=Severity.INFO, evidence=evidence, message=message)


def _refuted(finding: Finding, refuted: Mapping[str, Finding]) -> Finding:
    """Returns a proof as undecided where a conflict shows an assumption of it to be wrong; any other as it is."""
    words = next((words for words in finding.assumptions if words in refuted), None)
    if words is None or finding.verdict is not Verdict.PROVED:
        return finding
    conflict = refuted[words]
    message = f"needs that '{words}', which {conflict.code} refutes ({conflict.message}); with it: {finding.message}"
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=f"a proof without what {conflict.code} refutes")
    return replace(
        finding, verdict=Verdict.UNDECIDED, severity=Severity.INFO, evidence=evidence, message=message,
        places=(*finding.places, *(place.labelled("not so") for place in conflict.places[:1])),
    )  # fmt: skip


def _unread_keys(not_read: Iterable[NotRead]) -> dict[str, list[str]]:
    """Returns the values of each policy that no question reads."""
    unread: dict[str, list[str]] = {}
    for line in not_read:
        if line.section in POLICIES and line.key != "uses" and not line.place.file.startswith("models/"):
            unread.setdefault(line.entry, []).append(line.path)
    return unread


def _weighed(
    design: Design, finding: Finding, prover: Prover, idle: Collection[str], unread: Mapping[str, Sequence[str]],
    carried: Collection[tuple[str, int, int]] = (),
) -> Finding:  # fmt: skip
    promises = [design.promises[name] for name in finding.of if name in design.promises]
    never = [name for name in finding.of if name in idle]
    if never and not promises:
        message = f"{finding.message}, since {never[0]} never acts"
        return replace(finding, verdict=Verdict.VACUOUS, severity=Severity.INFO, message=message)
    words = words_of(design, finding)
    touching = list(_touching(design, words, prover))
    touching += _setting(design, words, prover, touching) if finding.code in STATED else ()
    touching += _resizing(design, prover, touching) if finding.code in MEMBERS_LIE else ()
    safe = all(promise.kind in SAFETY for promise in promises) and not finding.code.startswith(COMES_TO_REST)
    waiting = [influence for influence in touching if influence.kind == WAIT]
    served = finding.code in SERVED and not promises
    holding = [i for i in touching if served and i.section == "limits" and _counts_members(i)]
    removing = [i for i in touching if safe and i not in (*waiting, *holding) and i.removes(words)]
    beside = [influence for influence in touching if influence.kind in prover.regardless]
    bursts = [influence for influence in touching if influence.kind == BURST and not promises]
    queues = [i for i in touching if i.section == "links" and any(spot(place) in carried for place in i.places)]
    alone = finding.code.startswith(ALONE) and not promises
    stops = [i for i in touching if i.removes(words) and ((served and i.evicts) or (alone and i.kind == STOP))]
    removing = [i for i in removing if i not in stops]
    landings = {i: _landing(design, finding, i) for i in touching if i not in beside}
    landed = {influence: within for influence, within in landings.items() if within}
    named = (*waiting, *removing, *beside, *bursts, *stops, *queues, *landed)
    changing = [influence for influence in touching if influence not in named]
    if changing:
        return _open(finding, changing[0], unplaced(design), _resizers(design, finding.of, changing[0]))
    stated = [_named(ONLY_REMOVES, MANY_REMOVE, removing)] if removing else []
    stated += [NO_WAIT.format(influence.path) for influence in waiting]
    stated += [NO_QUEUE.format(f"the link {name}") for name in dict.fromkeys(i.name for i in queues)]
    stated += [STEADY.format(influence.path) for influence in bursts]
    stated += [NOBODY_GOES.format(influence.path) for influence in stops]
    stated += dict.fromkeys(landed.values())
    stated += [WHATEVER.format(" or ".join(influence.path for influence in beside))] if beside else []
    stated += [UNREAD.format(path) for path in _unread_paths(finding, unread, {i.path for i in beside})]
    return replace(finding, assumptions=(*finding.assumptions, *stated)) if stated else finding


def _unread_paths(finding: Finding, unread: Mapping[str, Sequence[str]], without: Collection[str]) -> list[str]:
    """Returns the values of the policies of a finding that no question reads."""
    paths = dict.fromkeys(path for name in dict.fromkeys(finding.of) for path in unread.get(name, ()))
    return [path for path in paths if path not in without]


def _named(of_one: str, of_several: str, influences_of_kind: Sequence[PossibleInfluence]) -> str:
    """Renders what is said of one entry, or of several."""
    *others, last = (influence.path for influence in influences_of_kind)
    return of_several.format(f"{', '.join(others)} and {last}") if others else of_one.format(last)


def _setting(
    design: Design, words: frozenset[str], prover: Prover, before: Sequence[PossibleInfluence]
) -> Iterator[PossibleInfluence]:
    """Yields the loops that set what is stated, read by the question and named by no answer; not numbers of members."""
    for influence in _touching(design, words, prover, WHOLE):
        counts = all(word.rpartition(".")[2] in MEMBERS for word in influence.words)
        if influence.section == "loops" and influence not in before and not counts:
            yield influence


def _counts_members(limit: PossibleInfluence) -> bool:
    """Decides whether a limit may leave a thing with fewer members than are wanted of it."""
    return any(word.rpartition(".")[2] in STATES["wanted"] for word in limit.words)


def _resizing(
    design: Design, prover: Prover, before: Sequence[PossibleInfluence]
) -> Iterator[PossibleInfluence]:  # fmt: skip
    """Yields the timers that choose how many members there are of things whose number the question has read."""
    stated = ((name, component.copies) for name, component in design.components.items())
    counted = {f"{name}.copies" for name, copies in stated if copies is not None and copies.place in prover.read}
    for influence in _touching(design, frozenset(counted), prover):
        if influence.section == "timers" and influence not in before:
            yield influence


def _touching(
    design: Design, words: frozenset[str], prover: Prover, named: Collection[str] = WHOLE[1:]
) -> Iterator[PossibleInfluence]:
    """Yields what may change something of these words and has not been read, of some sections by name."""
    by_word = influences(design)
    for influence in dict.fromkeys(influence for word in sorted(words & by_word.keys()) for influence in by_word[word]):
        itself = influence.section in WHOLE and influence.name in words  # the proof is about it by name
        if not itself and influence.touches(words) and not prover.has_read(influence, named):
            yield influence


def _resizers(design: Design, names: Iterable[str], influence: PossibleInfluence) -> tuple[str, ...]:
    """Returns the loops of these names that choose how many members come or go as an influence says."""
    loops = [name for name in names if name in design.loops and influence.kind == "members"]
    return tuple(name for name in loops if influence.words & set(words_of_entry(design, name)))


def _landing(design: Design, finding: Finding, influence: PossibleInfluence) -> str:
    """Returns that members come and go within `lands` of the loops that choose their number; empty where one does not
    state it as long.
    """
    loops = _resizers(design, finding.of, influence)
    takes = (design.components[influence.name].takes or {})[influence.key.partition(".")[2]] if loops else None
    timescales = [design.loops[name].timescale for name in loops]
    within = [
        t is not None and t.lands is not None and takes is not None and t.lands.high >= takes.high for t in timescales
    ]
    return LANDED.format(influence.name, " and ".join(loops)) if loops and all(within) else ""


def _open(
    finding: Finding, influence: PossibleInfluence, loops: Mapping[str, Sequence[str]], resizing: Sequence[str]
) -> Finding:
    """Returns the proof as an undecided answer that names what was not read."""
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=f"a proof without {influence.path}")
    needs = f"needs what {influence.path} changes, which {finding.code} does not read"
    if influence.section == "boundaries" and (nowhere := loops.get(influence.name)):
        needs += f" (state where {' and '.join(nowhere)} runs: `inside: {influence.name}`, or `inside: none`)"
    elif resizing:
        needs += f" (state how long a command takes with it: `lands` of {' and '.join(resizing)})"
    return replace(
        finding, verdict=Verdict.UNDECIDED, severity=Severity.INFO, evidence=evidence,
        message=f"{needs}; without it: {finding.message}",
        places=(*finding.places, influence.places[0].labelled("not read")),
    )  # fmt: skip
