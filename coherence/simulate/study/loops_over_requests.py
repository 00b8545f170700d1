"""Runs control loops over requests: they read what the request engine measures, and set its servers.

The model is cut where requests take over: the outputs of a queue (backlog, utilization, busy, wait,
served, arrivals) and the attempts of a workload become inputs, measured over the last tick (or a shorter period).
The exact executor then goes through its instants (deliver, sample, decide, step) as always; what it makes of the
signal that scales a station is given back as that station's number of servers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from coherence.base.places import Place
from coherence.base.reads import unnoted
from coherence.base.units import ONE
from coherence.language.design import Design
from coherence.language.expressions.tree import Number
from coherence.language.words import COUNTS, MEASURED, STATES
from coherence.model.crossings import at_crossings
from coherence.model.elaborate import elaborate
from coherence.model.model import EVERYTHING, Interval, Model, State, some_outputs
from coherence.simulate.execute.exact import Choices, Execution, Instant, View
from coherence.simulate.execute.open_ranges import lower_ends
from coherence.simulate.execute.slices import signals_in, sliced
from coherence.simulate.processes import Processes
from coherence.simulate.requests.first_tries import first_tries
from coherence.simulate.requests.program import Program
from coherence.simulate.requests.service_means import mean_of
from coherence.simulate.study.count_bands import CountedSignal
from coherence.simulate.study.counted_run import CountedEvents, CountedRun, counted_run
from coherence.simulate.study.drawn_noise import drawn_noise
from coherence.simulate.study.exact_runs import read_by_run

if TYPE_CHECKING:
    from coherence.simulate.study.promises import PromiseWatch

TICK = Fraction(1)  # s: how often loops can see something new
FOR_EVER = 1e9  # s, and members' worth of load: what waits where nobody serves
_GRAIN = 10**6  # measured values are rounded to a millionth, so that exact arithmetic stays short


@dataclass(frozen=True)
class LoopCut:
    """The model without what requests take over, and how each such signal is measured."""

    model: Model
    measured: Mapping[str, Callable[[Meter], float]]


class Meter:
    """What a run showed between two readings; it has a method for each word of `MEASURED`."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.stations = {station.name: station for station in program.stations}
        self.before: Mapping[str, float] = {}
        self.now: Mapping[str, float] = {}
        self.levels: Mapping[str, float] = {}
        self.span = 0.0

    def read(self, seen: Mapping[str, float], span: float) -> None:
        """Take a reading, `span` seconds after the last one."""
        self.before, self.now, self.levels, self.span = self.now, seen, seen, span

    def look(self, seen: Mapping[str, float]) -> None:
        """See levels as they are now; rates stay those of the last reading."""
        self.levels = seen

    def rate(self, key: str) -> float:
        """Per second, of a counter; before anything was measured, what the load that comes makes of it."""
        if not self.span:
            return self._first(key)
        return (self.now.get(key, 0.0) - self.before.get(key, 0.0)) / self.span

    def _first(self, key: str) -> float:
        """Returns the rate of a counter at the beginning: of first tries, and of the work that servers make of them."""
        of, _, word = key.rpartition(".")
        if of not in self.stations:
            return self._tries.get(of, 0.0)
        mean, arrivals = mean_of(self.stations[of].service), self.arrivals(of)
        busy = min(arrivals * mean, self.servers(of))
        rates = {"busy_seconds": busy, "served": busy / mean if mean else arrivals}
        return rates.get(word, 0.0)

    @cached_property
    def _tries(self) -> dict[str, float]:
        return first_tries(self.program)

    def capacity(self, station: str) -> float:
        """Services a second of all its servers."""
        mean = mean_of(self.stations[station].service)
        return self.servers(station) / mean if mean else 0.0

    def servers(self, station: str) -> float:
        """How many serve at a station."""
        return self.levels.get(f"{station}.servers", 0.0)

    def arrivals(self, station: str) -> float:
        """Tries a second that came to a station."""
        return sum(self.rate(f"{route.name}.tries") for route in self.program.routes if route.station == station)

    def backlog(self, station: str) -> float:
        """How many wait at a station."""
        return self.levels.get(f"{station}.queue", 0.0)

    def utilization(self, station: str) -> float:
        """The share of its capacity that came to a station; above 1 where more comes than it can serve."""
        return self._per_capacity(station, self.arrivals(station))

    def busy(self, station: str) -> float:
        """The share of its servers that were at work."""
        return _ratio(self.rate(f"{station}.busy_seconds"), self.servers(station))

    def wait(self, station: str) -> float:
        """How long what waits takes to be served (s): where nobody serves, for ever."""
        return self._per_capacity(station, self.backlog(station))

    def _per_capacity(self, station: str, asked: float) -> float:
        nobody = asked > 0 and not self.servers(station)
        return FOR_EVER if nobody else _ratio(asked, self.capacity(station))

    def served(self, station: str) -> float:
        """Services a second that ended at a station."""
        return self.rate(f"{station}.served")


def cut(model: Model, program: Program, given: Collection[str] = (), wanted: Collection[str] = frozenset()) -> LoopCut:
    """Replace in the model everything that the program carries out, but inputs that are given.

    `wanted`: signals that are measured though nothing of the model reads them.
    """
    measured: dict[str, Callable[[Meter], float]] = {}
    for station in program.stations:
        measured |= {f"{station.name}.{word}": _reading(word, station.name) for word in MEASURED}
    for source in program.sources:
        first = source.plan[0][0] if source.plan and source.plan[0] else ""
        measured[f"{source.name}.attempts"] = _rate(f"{first}.tries")
    known = {*model.outputs, *model.states, *(path for path in (*model.inputs, *wanted) if path not in given)}
    taken = {path: read for path, read in measured.items() if path in known}
    own = {*model.outputs, *model.states, *model.commands, *model.constants, *taken, *given}
    taken |= {path: read for path, read in counted_levels(program).items() if path in wanted and path not in own}
    return LoopCut(
        replace(
            model,
            outputs=some_outputs(model, [path for path in model.outputs if path not in taken]),
            states={p: s for p, s in model.states.items() if p not in taken} | {_CLOCK.path: _CLOCK},
            inputs={**model.inputs, **dict.fromkeys(taken)},
        ),
        taken,
    )


def counted_levels(program: Program) -> dict[str, Callable[[Meter], float]]:
    """Returns the counts of a run by the words that promises have for them: who waits, is there, serves, is in work."""
    return {path: _level(name) for path, name in _count_names(program).items()}


def _count_names(program: Program) -> dict[str, str]:
    """Returns under which name a run counts what promises have words for."""
    words = {"queue": STATES["waiting"], "present": STATES["in work"], "away": ("starting",)}
    words["servers"] = (*COUNTS["available"], *STATES["wanted"], "servers")
    counted = {
        f"{station.name}.{word}": f"{station.name}.{count}"
        for station in program.stations for count, own in words.items() for word in own
    }  # fmt: skip
    in_work = {f"{s.name}.{word}": f"{s.name}.in_flight" for s in program.sources for word in STATES["in work"]}
    return counted | in_work


def counted_signals(program: Program, measured: Iterable[str]) -> dict[str, CountedSignal]:
    """Returns those of the measured signals that change with a count at once; rates are those of the last reading."""
    names, counted = _count_names(program), {}
    read = {f"{station.name}.{word}": (station.name, word) for station in program.stations for word in MEASURED}
    for path in measured:
        station, word = read.get(path, ("", ""))
        if word in ("backlog", "wait"):
            queue = f"{station}.queue"
            counted[path] = CountedSignal((queue, f"{station}.servers") if word == "wait" else (queue,), queue)
        elif not word and path in names:
            counted[path] = CountedSignal((names[path],), names[path])
    return counted


_CLOCK = State(
    "every tick", Interval(Fraction(0), Fraction(0)), EVERYTHING, Number(Fraction(0)), None, TICK, False, ONE,
    Place("", 1, 1, 1, 1),
)  # fmt: skip


def without_clock(model: Model) -> Model:
    """Returns a model without the state that lets its loops tick beside requests: no one has declared it."""
    return replace(model, states={path: state for path, state in model.states.items() if state is not _CLOCK})


def _reading(word: str, station: str) -> Callable[[Meter], float]:
    return lambda meter: float(getattr(meter, word)(station))


def _rate(key: str) -> Callable[[Meter], float]:
    return lambda meter: meter.rate(key)


def _level(key: str) -> Callable[[Meter], float]:
    return lambda meter: meter.levels.get(key, 0.0)


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


def _exact(number: float) -> Fraction:
    return Fraction(round(number * _GRAIN), _GRAIN)


def run_model(design: Design) -> Model:
    """Returns the model of a design as it is run, without promises: a watch adds those that it judges.

    Raises InputError.
    """
    return replace(at_crossings(elaborate(design)), promises={})


@unnoted()
def ends_over_requests(
    design: Design, processes: Processes, values: Mapping[str, Fraction], watch: PromiseWatch, given: Iterable[str] = ()
) -> tuple[str, ...]:  # fmt: skip
    """Returns the value that runs take of each range that loops and promises over requests depend on, in words.

    Raises UsageError for what was `given` and no run reads.
    """
    if not design.loops and not watch.conditions():
        return ()
    model = run_model(design)
    wanted = watch.wanted(model)
    model = _shown(cut(model, processes.program, values, wanted), followed(processes), wanted).model
    read_by_run(model, given)
    return lower_ends(model, {*values, *drawn_noise(model, 0, values).values()})


def followed(processes: Processes) -> tuple[str, ...]:
    """Returns the signals that say how many serve, and by which weights requests are divided."""
    return (*processes.scaled.values(), *(path for paths in processes.weighted.values() for path in paths))


def _shown(whole: LoopCut, scaled: Iterable[str], promised: Iterable[str]) -> LoopCut:
    """Returns the cut with only what loops, servers, promises and what is shown depend on."""
    model = whole.model
    loops = (loop.name for loop in model.loops)
    needed = [*loops, *model.states, *model.commands, *model.inputs, *scaled, *promised]
    return replace(whole, model=replace(sliced(model, needed), promises=model.promises))


class Requests(Protocol):
    """Requests that go on under loops: `RequestRun` is one."""

    @property
    def seed(self) -> int: ...
    @property
    def stopped(self) -> str: ...
    @property
    def time(self) -> float: ...

    def advance(self, until: float) -> object:
        """Goes on to a time (s)."""

    def observe(self) -> Mapping[str, Any]:
        """Returns all counts now, as numbers."""

    def set_servers(self, station: str, servers: int) -> None:
        """Gives a station so many servers from now on."""

    def set_weights(self, owner: str, weights: Sequence[float]) -> None:
        """Gives the cases of a source or a station these weights from now on."""


class Coupled:
    """A run of requests under the design's loops.  `instants` are those of the executor."""

    def __init__(
        self, design: Design, processes: Processes, run: Requests, values: Mapping[str, Fraction] | None = None,
        watch: PromiseWatch | None = None,
    ) -> None:  # fmt: skip
        self.processes, self.run, self.watch = processes, run, watch
        model = run_model(design)
        wanted = watch.wanted(model) if watch is not None else frozenset[str]()
        whole = cut(model, processes.program, values or (), wanted)
        if watch is not None:
            given = {*whole.measured, *(values or ())}
            whole = replace(whole, model=watch.begin(whole.model, given, run.seed))
        self.cut = _shown(whole, followed(processes), watch.targets() if watch is not None else ())
        self.meter = Meter(processes.program)
        self.noise = drawn_noise(self.cut.model, run.seed, values or {})
        self.execution = self._begin(values or {})
        self.grain, self.read = min([TICK, *(loop.period for loop in self.cut.model.loops)]), Fraction(0)
        self.instants: list[Instant] = []
        self.counting = self._counting()

    def _counting(self) -> CountedRun | None:
        """Returns what judges the conditions on counts at every event, if there are any."""
        if self.watch is None or not isinstance(self.run, CountedEvents):
            return None
        signals, measured = counted_signals(self.processes.program, self.cut.measured), self.cut.measured

        rates = measured.keys() - signals.keys()
        for name, tree in self.watch.trees.items():
            self.watch.notes[name].rates = not rates.isdisjoint(signals_in(self.cut.model, tree))
        probe = Meter(self.processes.program)

        def values(counts: Mapping[str, int]) -> dict[str, Fraction]:
            probe.look({name: float(count) for name, count in counts.items()})
            return {path: _exact(measured[path](probe)) for path in signals}

        return counted_run(self.execution, self.run, self.watch, signals, values)

    @property
    def since_reading(self) -> Fraction:
        """Returns the time since rates were read (s)."""
        return self.execution.time - self.read

    def _begin(self, values: Mapping[str, Fraction]) -> Execution:
        """Returns the executor at the beginning, with what is measured of the load under the servers that there are.

        A loop that looks back sees the same before.
        """
        first = Execution(self.cut.model, Choices({**values, **dict.fromkeys(self.cut.measured, Fraction(0))}))
        self._set_servers(View(first, first.time, first.base()))
        self.run.advance(until=0.0)
        self.meter.read(self.run.observe(), 0.0)
        return Execution(self.cut.model, Choices({**values, **self._measured()}))

    def _measured(self) -> dict[str, Fraction]:
        return {path: _exact(read(self.meter)) for path, read in self.cut.measured.items()}

    def _set_servers(self, world: View) -> None:
        for station, path in self.processes.scaled.items():
            members = max(0, int(world.value(path)))
            self.run.set_servers(station, members * self.meter.stations[station].at_once)
        for owner, paths in self.processes.weighted.items():
            self.run.set_weights(owner, [max(0.0, float(world.value(path))) for path in paths])

    def advance(self, until: float) -> None:
        """Go on to a time (s)."""
        limit = Fraction(until)
        while (time := self.execution.next_time()) <= limit and not self.run.stopped:
            self._instant(time)
        self._reach(until)

    def _reach(self, time: float) -> None:
        if self.counting is None:
            self.run.advance(until=time)
        else:
            self.counting.reach(time)

    def end(self, time: Fraction) -> None:
        """Ends what a watch sees at a time (s), to which the run has come."""
        if self.watch is not None and self.execution.time < time:
            self.watch.pass_time(self.execution, time)
            self.watch.see(self.execution, self.execution.look(time))
        if self.counting is not None:
            self.counting.end(time)

    def until(self, time: Fraction) -> list[Instant]:
        """Returns the instants, and what there is at a time (s) to which the run has come."""
        return [*self.instants, *([self.execution.look(time)] if self.execution.time < time else [])]

    def _instant(self, time: Fraction) -> None:
        if self.watch is not None:
            self.watch.pass_time(self.execution, time)
        self._reach(float(time))
        seen, span = self.run.observe(), time - self.read
        if span >= self.grain or not self.meter.now:  # of a shorter time a rate says nothing
            self.meter.read(seen, float(span))
            self.read = time
        self.meter.look(seen)
        self.execution.values.update({**self._measured(), **self.noise.values()})
        self.instants.append(self.execution.advance())
        world = View(self.execution, self.execution.time, {**self.execution.values, **self.execution.modes})
        if self.watch is not None:
            self.watch.see(self.execution, self.instants[-1])
        if self.counting is not None:
            self.counting.see(self.execution, self.instants[-1])
        self._set_servers(world)
