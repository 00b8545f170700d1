"""Takes back proofs that what was not read touches, and those whose policies never act.

An entry of a design that no question read touches a proof where it can change a signal or an event that the proof is
about: a boundary around one of its things or around what they run on, a link between two of them, a limit on one of its
signals, a loop that writes one, a timer that makes one of its events, a burst or a switch of the rate of one of its
workloads (a proof that is about no promise says that it takes the rate as stated).  What can only take runs away, a
loop that evicts or a limit, leaves a proof that nothing bad happens standing, and the proof says so; it takes back a
proof that something comes to be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade, NotRead, Severity, Verdict
from coherence.language import names
from coherence.language.design import Design
from coherence.language.expressions import names as names_in
from coherence.language.leaves import leaves
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import Event

SECTIONS = ("loops", "timers", "limits", "boundaries", "links")
SAFETY = ("always", "never", "before")
COMES_TO_REST = ("COH225", "COH226", "COH232", "COH30")  # codes whose proofs say that something ends
VARIED = ("burst.rate", "arrivals.switches.rate")  # keys by which a workload leaves its rate
ONLY_REMOVES = "{} is not read; it can only take runs away"
STEADY = "{} is not read; the rate stays as it is stated"


@dataclass(frozen=True)
class Unread:
    """An entry that no answer was computed from, its place, and the signals, events or things that it may change.

    `together`: how many of them a proof must be about before the entry touches it.
    """

    section: str
    name: str
    place: Place
    words: frozenset[str]
    evicts: str = ""
    together: int = 1

    def touches(self, words: frozenset[str]) -> bool:
        """Returns whether the entry may change something of what a proof is about."""
        return len(self.words & words) >= self.together or self.evicts in words

    @property
    def path(self) -> str:
        """Returns `limits.slots`."""
        return f"{self.section}.{self.name}"


def standing(design: Design, findings: Sequence[Finding], not_read: Iterable[NotRead]) -> tuple[Finding, ...]:
    """Returns the findings, each proof that what was not read touches, or that nothing supports, taken back."""
    unread = list(_entries(design, not_read))
    idle = {f.of[0] for f in findings if f.verdict is Verdict.VACUOUS and len(f.of) == 1 and f.of[0] in design.loops}
    if not unread and not idle:
        return tuple(findings)
    return tuple(_weighed(design, f, unread, idle) if f.verdict is Verdict.PROVED else f for f in findings)


def _weighed(design: Design, finding: Finding, unread: Sequence[Unread], idle: Iterable[str]) -> Finding:
    promises = [design.promises[name] for name in finding.of if name in design.promises]
    never = [name for name in finding.of if name in idle]
    if never and not promises:
        message = f"{finding.message}, since {never[0]} never acts"
        return replace(finding, verdict=Verdict.VACUOUS, severity=Severity.INFO, message=message)
    words = _words(design, finding)
    unread = [entry for entry in unread if entry.name not in words]  # the proof is about it by name
    safe = all(promise.kind in SAFETY for promise in promises) and not finding.code.startswith(COMES_TO_REST)
    removing = [entry for entry in unread if safe and _removes(entry, words)]
    changing = [entry for entry in unread if entry not in removing and entry.touches(words)]
    bursts = [entry for entry in changing if entry.section == "workload" and not promises]
    if len(changing) > len(bursts):
        return _open(finding, next(entry for entry in changing if entry not in bursts))
    stated = tuple(ONLY_REMOVES.format(entry.path) for entry in removing)
    stated += tuple(STEADY.format(entry.path) for entry in bursts)
    return replace(finding, assumptions=(*finding.assumptions, *stated)) if stated else finding


def _removes(entry: Unread, words: frozenset[str]) -> bool:
    """Returns whether an entry touches these words, and only by taking runs away from them."""
    if entry.section == "limits":
        return bool(entry.words & words)
    return entry.evicts in words and not entry.words & words


def _open(finding: Finding, entry: Unread) -> Finding:
    """Returns the proof as an undecided answer that names what was not read."""
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=f"a proof without {entry.path}")
    return replace(
        finding, verdict=Verdict.UNDECIDED, severity=Severity.INFO, evidence=evidence,
        message=f"needs what {entry.path} changes, which no question reads; without it: {finding.message}",
        places=(*finding.places, entry.place.labelled("not read")),
    )  # fmt: skip


def _entries(design: Design, not_read: Iterable[NotRead]) -> Iterator[Unread]:
    """Yields the entries of which no value was read, with what they may change."""
    every = Counter((leaf.section, leaf.entry) for leaf in leaves(design))
    lines: dict[tuple[str, str], list[NotRead]] = {}
    for line in not_read:
        lines.setdefault((line.section, line.entry), []).append(line)
    for (section, name), own in lines.items():
        if section in SECTIONS and len(own) == every[section, name]:
            evicts = _evicted(design, name) if section == "loops" else ""
            together = 2 if section == "links" else 1  # what has one end alone in a proof is no way within it
            yield Unread(section, name, own[0].place, frozenset(_changed(design, section, name)), evicts, together)
        varied = next((line for line in own if section == "workload" and line.key in VARIED), None)
        if varied is not None:
            word = varied.key.removesuffix(".rate")
            yield Unread(section, f"{name}.{word}", varied.place, frozenset({f"{name}.rate", f"{name}.attempts"}))


def _evicted(design: Design, name: str) -> str:
    actuation = design.loops[name].actuation
    return actuation.evict.text if actuation is not None and actuation.evict is not None else ""


def _changed(design: Design, section: str, name: str) -> Iterator[str]:
    """Yields the signals, events and things that an entry may change."""
    if section == "boundaries":
        yield from (word.text for word in design.boundaries[name].around)
    elif section == "links":
        yield from name.split(" - ")
    elif section == "limits":
        counts = design.limits[name].counts
        yield from _signals(design, [counts] if counts is not None else [])
    elif section == "timers":
        event = design.timers[name].then
        yield from [event.text] if event is not None else []
    else:
        actuation = design.loops[name].actuation
        signal = actuation.signal if actuation is not None else None
        yield from [names.resolve(signal.text, design)] if signal is not None else []


def _words(design: Design, finding: Finding) -> frozenset[str]:
    """Returns the signals, events and things that a proof is about, and those that its signals are computed from."""
    signals = {word for name in finding.of for word in _of_entry(design, name)}
    things = {word.split(".")[0] for word in signals}
    components = (design.components[thing] for thing in things if thing in design.components)
    return frozenset(signals | things | {host.runs_on.text for host in components if host.runs_on is not None})


def _of_entry(design: Design, name: str) -> Iterator[str]:
    yield name
    for call in design.calls:
        if call.name == name:
            yield from (end.text for end in (call.caller, call.callee) if end is not None)
    loop, limit, promise = design.loops.get(name), design.limits.get(name), design.promises.get(name)
    if loop is not None:
        yield from _behind(design, [*_signals(design, names.loop_formulas(loop)), *_changed(design, "loops", name)])
    if limit is not None and limit.counts is not None:
        yield from _behind(design, _signals(design, [limit.counts]))
    if promise is not None:
        yield from _behind(design, _signals(design, promise.conditions))
        yield from _texts((promise.first, promise.second))
    if name in design.timers:
        timer = design.timers[name]
        yield from (text for text in _texts((timer.start, timer.unless)) if not _starts_an_activity(design, text))


def _starts_an_activity(design: Design, event: str) -> bool:
    """Returns whether an event is the start of an activity: it may come at any time, whoever else starts it."""
    thing, _, activity = event.removesuffix(" starts").partition(".")
    component = design.components.get(thing)
    return event.endswith(" starts") and component is not None and activity in (component.takes or {})


def _texts(events: Iterable[object]) -> Iterator[str]:
    yield from (event.text for event in events if isinstance(event, Event))


def _signals(design: Design, formulas: Iterable[Formula]) -> Iterator[str]:
    yield from (names.resolve(path, design) for formula in formulas for path in names_in(formula.tree))


def _behind(design: Design, signals: Iterable[str]) -> Iterator[str]:
    """Yields signals with all from which they are computed."""
    waiting, seen = list(signals), set[str]()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += _signals(design, _formulas(design, path))
    yield from seen


def _formulas(design: Design, path: str) -> Iterator[Formula]:
    """Yields the formulas that compute a signal of a component."""
    thing, _, signal = path.partition(".")
    component = design.components.get(thing)
    if component is not None:
        own: Mapping[str, object] = component.constants
        state = names.state_formula(component) if signal == names.state_variable(component) else None
        yield from (formula for formula in (own.get(signal), state) if isinstance(formula, Formula))
