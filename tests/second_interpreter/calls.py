"""Draws small call graphs and lists how long their runs take, one by one: every own time, failure, case and order.

A run is a number of seconds.  What a design does not say (an order, which of several calls are made, whether the own
time contains that of the calls) is run in each way.  Nothing of the engines is imported; times are small whole numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from random import Random

Times = frozenset[Fraction]
Chain = tuple["DrawnCall", ...]  # a call, and its fallbacks in turn
NO_TIME = Fraction(0)


@dataclass(frozen=True)
class DrawnCall:
    """A call as it is written; `fails`: seconds of the failure `unavailable`, `again`: the causes that are retried."""

    caller: str
    callee: str
    deadline: int | None = None
    per_try: int | None = None
    tries: int = 1
    pause: int = 0
    again: tuple[str, ...] = ()
    fails: tuple[int, int] = (0, 0)
    stage: str = ""
    cases: tuple[str, ...] = ()
    fallback_for: str = ""

    @property
    def limit(self) -> int | None:
        return min((x for x in (self.deadline, self.per_try) if x is not None), default=None)

    @property
    def seen(self) -> bool:
        """Decides whether a failure is tried again that comes before the limit of one try does."""
        return "unavailable" in self.again and (self.limit is None or self.fails[0] <= self.limit)

    def text(self) -> str:
        """Returns the call as YAML."""
        fails = f"{{unavailable: {self.fails[0]} s .. {self.fails[1]} s}}"
        entries = {
            "from": self.caller, "to": self.callee, "deadline": _seconds(self.deadline),
            "per_try": _seconds(self.per_try), "tries": self.tries, "pause": _seconds(self.pause or None),
            "retry_when": f"[{', '.join(self.again)}]",
            "fails": fails if "unavailable" in self.again else None,
            "stage": self.stage, "case": f"[{', '.join(self.cases)}]" if self.cases else None,
            "fallback_for": self.fallback_for, "on_timeout": "abandon" if self.limit else None,
        }  # fmt: skip
        return f"  - {{{', '.join(f'{key}: {value}' for key, value in entries.items() if value)}}}"


def _seconds(value: int | None) -> str:
    return "" if value is None else f"{value} s"


@dataclass(frozen=True)
class CallGraph:
    """The own time of each thing, where it is stated, and the calls of all."""

    own: dict[str, tuple[int, int] | None]
    calls: tuple[DrawnCall, ...]

    def text(self) -> str:
        """Returns the design."""
        takes = (f"{name}: {{takes: {{serve: {t[0]} s .. {t[1]} s}}}}" for name, t in self.own.items() if t is not None)
        calls = "\n".join(call.text() for call in self.calls)
        return f"coherence: 1\ncomponents: {{{', '.join(takes)}}}\ncalls:\n{calls}\n"

    def of(self, name: str) -> list[DrawnCall]:
        return [call for call in self.calls if call.caller == name]

    def stated(self, name: str) -> bool:
        """Decides whether the thing says how long it works, or only calls what does; behind limits it need not."""
        calls = self.of(name)
        if self.own[name] is None:
            return bool(calls) and all(self.stated(call.callee) for call in calls)
        return all(self.stated(call.callee) for call in calls if call.limit is None)

    def silent(self, name: str) -> bool:
        """Decides whether nothing says how long the thing works: it hangs, where a fallback is there for it."""
        return self.own[name] is None and all(self.silent(call.callee) for call in self.of(name))

    # -- the ways in which a caller may make its calls -----------------------------------------------------------

    def orders(self, name: str) -> Iterator[list[list[Chain]]]:
        """Yields stages one after another, of chains at once: one list for each way that the design leaves open."""
        calls = self.of(name)
        cases = sorted({case for call in calls for case in call.cases})
        for case in cases or [""]:
            chains = [self._chain(c, calls) for c in calls if not c.fallback_for and (not c.cases or case in c.cases)]
            if any(call.stage for call in calls):
                words = list(dict.fromkeys(chain[0].stage or chain[0].callee for chain in chains))
                yield [[chain for chain in chains if (chain[0].stage or chain[0].callee) == word] for word in words]
                continue
            for size in [len(chains)] if cases else range(1, len(chains) + 1):
                for chosen in itertools.combinations(chains, size):
                    yield [[chain] for chain in chosen]
                    yield [list(chosen)]

    def _chain(self, call: DrawnCall, calls: list[DrawnCall]) -> Chain:
        behind = [other for other in calls if other.fallback_for == call.callee]
        return (call, *(self._chain(behind[0], calls) if behind else ()))

    def together(self, name: str, of: Callable[[Chain], Times]) -> Times:
        """Returns the times of all calls of a thing, in every way."""
        totals = set[Fraction]()
        for stages in self.orders(name):
            ends = [{max(picked) for picked in itertools.product(*(of(chain) for chain in stage))} for stage in stages]
            totals |= {sum(picked, NO_TIME) for picked in itertools.product(*ends)}
        return frozenset(totals)

    def with_own(self, name: str, inside: Times) -> Times:
        """Returns the times of a thing whose own time comes beside that of its calls, or contains it."""
        stated = self.own[name]
        if stated is None:
            return inside or frozenset([NO_TIME])
        own = {Fraction(stated[0]), Fraction(stated[0] + stated[1], 2), Fraction(stated[1])}
        return frozenset(
            own if not inside else {x for a, b in itertools.product(own, inside) for x in (a + b, max(a, b))}
        )

    def left_behind(self, call: DrawnCall, *, touches: bool) -> bool:
        """Decides whether the caller may leave while a try is worked on; `touches`: ending at its limit is too late.

        A later try comes after failures that each take any time of their range, and has what the deadline leaves it.
        """
        work, limit = max(self.ends(call.callee, hang=False)), call.limit
        if limit is None:
            return False
        if work > limit or (touches and work == limit):
            return True
        if call.deadline is None or not call.seen:
            return False
        for k in range(1, call.tries):
            early, late = (k * (min(d, limit) + call.pause) for d in call.fails)
            begins = call.deadline - work  # a try that begins later than this is cut
            if early < call.deadline and (late > begins or (touches and late == begins)) and work > 0:
                return True
        return False

    # -- runs in which no try fails, but by its limit ----------------------------------------------------------------

    def answers(self, name: str) -> Times:
        """Returns how long the thing needs to answer."""
        return self.with_own(name, self.together(name, self._answer_of_chain) if self.of(name) else frozenset())

    def _answer_of_chain(self, chain: Chain) -> Times:
        call, *fallbacks = chain
        times, limit = self.answers(call.callee), call.limit
        cut = frozenset(_cut(time, limit) for time in times)
        if not fallbacks or limit is None or (not self.silent(call.callee) and max(times) <= limit):
            return cut
        behind = self._answer_of_chain(tuple(fallbacks))
        given_up = frozenset(a + b for a in self._tries(call, hang=True) for b in behind)
        return given_up if min(times) > limit else cut | given_up

    # -- runs in which tries fail, and hang -----------------------------------------------------------------------

    def ends(self, name: str, *, hang: bool) -> Times:
        """Returns after which times the work for one request is over; without `hang` only the unstated hangs."""
        inside = (
            self.together(name, lambda chain: self._end_of_chain(chain, hang=hang)) if self.of(name) else frozenset()
        )
        return self.with_own(name, inside)

    def _end_of_chain(self, chain: Chain, *, hang: bool) -> Times:
        sums = frozenset([NO_TIME])
        totals = set[Fraction]()
        for call in chain:
            sums = frozenset(a + b for a in sums for b in self._tries(call, hang=hang))
            totals |= sums
        return frozenset(totals)

    def _tries(self, call: DrawnCall, *, hang: bool) -> Times:
        """Returns when all tries of a call are over: any number fails by one cause, the last takes what it takes."""
        limit, stuck = call.limit, hang or not self.stated(call.callee)
        natural = self.ends(call.callee, hang=hang)
        last = {_cut(time, limit) for time in natural} | ({Fraction(limit)} if stuck and limit is not None else set())
        causes = {_cut(Fraction(d), limit) for d in call.fails} if call.seen else set()
        if "timeout" in call.again and limit is not None and (stuck or max(natural) >= limit):
            causes.add(Fraction(limit))
        starts = {k * (cause + call.pause) for k in range(call.tries) for cause in causes} | {NO_TIME}
        return frozenset(_cut(start + time, call.deadline) for start in starts for time in last)


def _cut(time: Fraction, limit: int | None) -> Fraction:
    return time if limit is None else min(time, Fraction(limit))


def call_graph(random: Random) -> CallGraph:
    """Returns three to six things that call those behind them, with what one may write at a call."""
    names = [f"t{k}" for k in range(random.randint(3, 6))]
    callees = {a: random.sample(names[k + 1 :], min(len(names) - k - 1, random.choice([1, 1, 2, 2, 3])))
               for k, a in enumerate(names) if k == 0 or random.random() < 0.6}  # fmt: skip
    own = {name: _own(random, 0.3 if callees.get(name) else 0.85) for name in names}
    calls = [call for name in names for call in _calls(random, name, callees.get(name, []), own, callees)]
    return CallGraph(own, tuple(calls))


def _own(random: Random, often: float) -> tuple[int, int] | None:
    low = random.randint(1, 6)
    return (low, low + random.choice([0, 1, 4])) if random.random() < often else None


def _calls(
    random: Random, name: str, callees: list[str], own: dict[str, tuple[int, int] | None], below: dict[str, list[str]]
) -> Iterator[DrawnCall]:
    shape = random.choice(["", "stages", "cases", "fallback"]) if len(callees) > 1 else ""
    for number, callee in enumerate(callees):
        open_end = own[callee] is None and not below.get(callee)
        deadline = random.choice([None, random.randint(2, 20)]) if not open_end else random.randint(2, 20)
        per_try, tries = random.choice([(None, 1), (None, 1), (random.randint(1, 8), random.randint(1, 3))])
        again = random.choice([("timeout",), ("timeout", "unavailable"), ("unavailable",)])
        pause, fails = random.choice([0, 0, 1]) if tries > 1 else 0, (0, random.randint(0, 3))
        yield DrawnCall(
            name, callee, deadline, per_try, tries, pause, again, fails,
            stage=random.choice(["a", "b", "a", ""]) if shape == "stages" else "",
            cases=tuple("xy"[number : number + 1]) if shape == "cases" else (),
            fallback_for=callees[0] if shape == "fallback" and number == 1 else "",
        )  # fmt: skip
