"""Decides which of two events comes first: both measured from the nearest event that causes both.

Two events are comparable where their chains meet.  The windows of the links on either way add up;
no link is on both, so they vary independently of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.queries import cached
from coherence.findings.finding import Step
from coherence.findings.question_input import Certificate
from coherence.language.design import Design
from coherence.verify.events.event_ways import chains, rounds
from coherence.verify.events.graph import MAY_END, Causes, Chain, EventLink, set_by_loops
from coherence.verify.timers.firing import NOW, FiringWindow


@dataclass(frozen=True)
class EventOrder:
    """Two events measured from the nearest event that causes both.

    `again`: an event that comes round again between the two, so that each of them follows the other.  `soonest`: of
    several runs of an activity the one that is over first is meant.
    """

    common: str
    first: Chain
    second: Chain
    again: str = ""
    soonest: bool = False

    @property
    def windows(self) -> tuple[FiringWindow, FiringWindow]:
        return total(self.first), total(self.second)

    @property
    def reached(self) -> tuple[FiringWindow, FiringWindow]:
        """Returns the times of runs that can happen, which may be fewer than the windows allow."""
        return total_reached(self.first), total_reached(self.second)

    @property
    def open(self) -> bool:
        """Returns whether no run is known for want of a fact."""
        return any(link.missing and link.inner is None for link in self.first + self.second)

    @property
    def missing(self) -> str:
        if self.again:
            return f"which round is meant: '{self.again}' comes again, and each follows the other"
        return next((link.missing for link in self.first + self.second if link.missing), "")

    @property
    def lacks_time(self) -> bool:
        """Decides whether what is missing is how long an activity takes."""
        missing = next((link for link in self.first + self.second if link.missing), None)
        return missing is not None and missing.kind == "activity"

    @property
    def rests(self) -> str:
        """Returns the activity that the order of `takes` alone puts after another, after a rest that nothing states."""
        rests = (link for link in self.first + self.second if link.kind == "follows" and link.window.latest is None)
        return next((link.effect.removesuffix(" starts") for link in rests), "")

    @property
    def assumptions(self) -> tuple[str, ...]:
        links = self.second + self.first
        rivals = () if self.soonest else tuple(text for link in links for text in link.rivals)
        return tuple(dict.fromkeys((*(text for link in links for text in link.assumptions), *rivals)))


def total_reached(chain: Chain) -> FiringWindow:
    """Returns the times from the first cause of a chain to its event in runs that can happen."""
    return sum((link.reached for link in chain), NOW)


Alternatives = tuple[tuple[EventOrder | None, ...], ...]
RANKS = ("before", "touches", "unknown", "possible", "after")


def total(chain: Chain) -> FiringWindow:
    """Returns the time from the first cause of a chain to its event."""
    return sum((link.window for link in chain), NOW)


def alternatives(
    first: str,
    second: str,
    links_to: Causes,
    *,
    armed: bool = False,
    surely: Callable[[EventLink], bool] | None = None,
) -> Alternatives:
    """Returns the comparisons of every way back from the second event with the ways back from the first.

    `armed`: of a first event that comes round again the one is meant that follows what the second runs from.
    Ways that part at the end of an activity stand together: whichever is over soonest ends it, in its own time or by
    a timer.  A timer that may not fire makes no end sooner.  `surely`: links that come true in every run; then the
    first of all ends is meant, and ways of such links alone stand together.
    """
    links_to = _without_ends_by(second, first, links_to)
    ends: dict[tuple[str, ...], list[Chain]] = {}
    for chain in chains(first, links_to):
        if not any(link.kind == MAY_END for link in chain):
            ends.setdefault(_starts(chain, links_to), []).append(chain)
    every: list[tuple[EventOrder | None, ...]] = []
    for right in chains(second, links_to):
        met = [
            tuple(dict.fromkeys(_meet(first, left, second, right, armed=armed) for left in lefts))
            for lefts in ends.values()
        ]
        every += met if surely is None else _soonest(met, surely)
    return tuple(every)


def _without_ends_by(cause: str, effect: str, links_to: Causes) -> Causes:
    """Returns the links without those by which one event ends an activity that ends in its own time as well: what it
    ends so has not ended before it.
    """
    links = links_to.get(effect, ())
    others = tuple(link for link in links if link.cause != cause)
    own = any(link.kind == "activity" for link in others)
    return {**links_to, effect: others} if own and len(others) < len(links) else links_to


def _soonest(
    every: list[tuple[EventOrder | None, ...]], surely: Callable[[EventLink], bool]
) -> list[tuple[EventOrder | None, ...]]:
    """Returns as one those comparisons whose first event comes in every run.

    Others bring that event about in some runs, and only sooner: with them it is not certain to come too late.
    """
    certain = [
        together for together in every
        if any(order is not None and not order.again and all(map(surely, order.first)) for order in together)
    ]  # fmt: skip
    if not certain or len(every) == 1:
        return every
    met = dict.fromkeys(order for together in certain for order in together)
    soonest = tuple(replace(order, soonest=True) if order is not None else None for order in met)
    return [soonest if len(certain) == len(every) else (*soonest, None)]


def next_time(event: str, second: str, links_to: Causes) -> Alternatives:
    """Returns the comparisons of the next time that an event comes with a second one that runs from it.

    Where it leads to itself it comes again after each such round; other causes only let it come sooner.
    """
    runs = [chain[:1] for chain in chains(second, links_to) if chain and chain[0].cause == event]
    ends: dict[tuple[str, ...], list[Chain]] = {}
    for way in rounds(event, links_to):
        if not any(link.kind == MAY_END for link in way):
            ends.setdefault(_starts(way, links_to), []).append(way)
    return tuple(
        tuple(dict.fromkeys(EventOrder(event, way, run) for way in ways)) for run in runs for ways in ends.values()
    )


def _starts(chain: Chain, links_to: Causes) -> tuple[str, ...]:
    """Returns which of several causes a way takes, ends of activities apart."""
    apart = (links_to.get(link.effect, ()) for link in chain)
    return tuple(
        link.cause for link, links in zip(chain, apart, strict=True)
        if len(links) > 1 and not any(other.kind == "activity" for other in links)
    )  # fmt: skip


def _meet(first: str, left: Chain, second: str, right: Chain, *, armed: bool) -> EventOrder | None:
    """Returns the two events from the nearest that causes both; where it differs from either side, rounds repeat."""
    lefts, rights = ([event, *(link.cause for link in way)] for event, way in ((first, left), (second, right)))
    near = next((event for event in lefts if event in rights), None)
    if near is None:
        return None
    late = next((event for event in rights[1 : rights.index(near)] if event in lefts), near)
    armed = armed and second not in lefts[: lefts.index(late)]
    common, again = (late, "") if armed or late == near else (near, late)
    return EventOrder(common, left[: lefts.index(common)], right[: rights.index(common)], again)


def relation(order: EventOrder) -> str:
    """Returns `before`, `touches`, `possible`, `after` or `unknown`: how the first event stands to the second.

    `touches`: the worst case of the first, which contains the stated range of an activity, ends where
    the second, made of timers alone, begins: a worst case at its limit.  Between clocks that is a conflict.
    """
    earlier, later = order.windows
    if order.rests or order.again:
        return "unknown"
    if not order.second:
        return "after"
    if not order.first:
        return "before"
    if earlier.latest is not None and earlier.latest < later.earliest:
        return "before"
    if earlier.latest == later.earliest and has_activity(order.first) and not has_activity(order.second):
        return "touches"
    first, second = order.reached
    if later.latest is not None and first.earliest >= later.latest:
        return "after"
    known = first.latest is not None and not order.open and first.latest >= second.earliest
    return "possible" if known else "unknown"


def deciding_order(ways: Alternatives, relate: Callable[[EventOrder], str] = relation) -> tuple[EventOrder, str] | None:
    """Returns the comparison that decides, and how its events stand; None where nothing ties the two together.

    Of comparisons that stand together the best counts, of those that do not the worst.  `after` is said only where
    every way says so.
    """

    def rank(order: EventOrder) -> int:
        return RANKS.index(relate(order))

    tied = [[order for order in together if order is not None] for together in ways]
    best = [min(together, key=rank) for together in tied if together]
    if not best:
        return None
    worst = max(best, key=rank)
    certain = all(relate(order) == "after" for order in best) and not any(None in together for together in ways)
    return worst, "possible" if relate(worst) == "after" and not certain else relate(worst)


def gap(order: EventOrder) -> FiringWindow | None:
    """Returns how long after the first event the second comes; None where the first may come at any time."""
    first, second = order.windows
    if first.latest is None:
        return None
    latest = None if second.latest is None else max(NOW.earliest, second.latest - first.earliest)
    return FiringWindow(max(NOW.earliest, second.earliest - first.latest), latest)


def hull(windows: Iterable[FiringWindow]) -> FiringWindow:
    """Returns the shortest window around several."""
    earliest, latest = zip(*((window.earliest, window.latest) for window in windows), strict=True)
    return FiringWindow(min(earliest), None if None in latest else max(latest))


@dataclass(frozen=True)
class Interruptions:
    """Activities that loops set (`rank.pause`) on the members of a chain, and the seconds they could add to it.

    Whether they prolong another activity is not said outside a barrier, so they decide no conflict;
    they only stop a proof.
    """

    words: str
    loops: tuple[str, ...]
    longest: Fraction

    def spoil(self, order: EventOrder) -> bool:
        """Decides whether they could make the first event of a proved order late."""
        earlier, later = order.windows
        return bool(self.loops) and earlier.latest is not None and earlier.latest + self.longest >= later.earliest


def interruptions(design: Design, chain: Chain) -> Interruptions:
    """Returns what loops could do to the activities of a chain."""
    running = {link.name for link in chain if link.kind == "activity"}
    things = {name.split(".")[0] for name in running}
    set_spans: dict[str, tuple[str, Fraction]] = {}
    for _, signal, loop in sorted(of_one for thing in things for of_one in _set_of(design).get(thing, ())):
        thing, _, activity = signal.partition(".")
        component = design.components.get(thing)
        span = (component.takes or {}).get(activity) if component is not None else None
        if span is not None and signal not in running:
            set_spans[signal] = (loop, span.high)
    words = ", ".join(f"{signal} (set by {loop})" for signal, (loop, _) in set_spans.items())
    loops = tuple(dict.fromkeys(loop for loop, _ in set_spans.values()))
    return Interruptions(words, loops, sum((high for _, high in set_spans.values()), Fraction(0)))


@cached
def _set_of(design: Design) -> dict[str, list[tuple[int, str, str]]]:
    """Returns thing -> its signals that loops write, each with its number and the loop."""
    signals: dict[str, list[tuple[int, str, str]]] = {}
    for number, (signal, loop) in enumerate(set_by_loops(design).items()):
        signals.setdefault(signal.partition(".")[0], []).append((number, signal, loop))
    return signals


def has_activity(chain: Chain) -> bool:
    """Decides whether the chain contains the duration of an activity (a stated range), not only timers."""
    return any(link.kind == "activity" for link in chain)


def certificate(order: EventOrder, claim: str) -> str:
    """Returns SMT-LIB: within the windows of all links, first `claim` second (`<` or `<=`) since the common cause."""
    constants, facts = {}, []
    for link in order.first + order.second:
        name = _symbol(link)
        constants[name] = "Real"
        facts.append(f"(>= {name} {link.lower})")
        if link.upper:
            facts.append(f"(<= {name} {link.upper})")
    return Certificate(constants, tuple(facts), f"({claim} {_sum(order.first)} {_sum(order.second)})").script()


def _symbol(link: EventLink) -> str:
    return f"|{link.effect.translate(str.maketrans('|' + chr(92), '__'))}|"


def _sum(chain: Chain) -> str:
    parts = [_symbol(link) for link in chain]
    return f"(+ {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else "0.0"


def moments(chain: Chain, *, early: bool) -> list[tuple[Fraction, EventLink]]:
    """Returns when each link of a chain comes true, counted from the common cause, at its earliest or its latest."""
    time, times = Fraction(0), []
    for link in reversed(chain):
        latest = link.reached.latest
        time += link.reached.earliest if early or latest is None else latest
        times.append((time, link))
    return times


def sorted_steps(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Returns a timeline in order of time; steps of one time keep their order."""
    return tuple(sorted(steps, key=lambda step: step.time or Fraction(0)))


def between(window: FiringWindow) -> str:
    """Renders `140 s to 150 s`, `600 s`, `at least 5 s`; both ends in one unit where that reads well."""
    if window.latest is None:
        return f"at least {render_seconds(window.earliest)}"
    ends = [render_seconds(window.earliest), render_seconds(window.latest)]
    mixed = ends[0].split()[-1] != ends[1].split()[-1]
    near = window.latest < 1000 or window.latest < 10 * window.earliest
    if mixed and window.earliest >= 1 and near and any(end.endswith(" s") for end in ends):
        ends = [f"{render_decimal(end)} s" for end in (window.earliest, window.latest)]
    return ends[0] if window.exact else f"{ends[0]} to {ends[1]}"
