"""Encodes bounded response as safety: a transition system that counts how long an answer has been due."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.base.clock import left_until
from coherence.language.expressions.tree import Logic
from coherence.model.model import Model
from coherence.simulate.execute.bounded_response import BoundedResponse
from coherence.simulate.execute.schedules import PhasePattern, schedules
from coherence.verify.invariants.proof import InvariantProof
from coherence.verify.invariants.prover import prove
from coherence.verify.systems.cases import forks
from coherence.verify.systems.instants import orders
from coherence.verify.systems.model_readings import first_reading, readings
from coherence.verify.systems.registers import Moment
from coherence.verify.systems.state_space import SystemMode, inside
from coherence.verify.systems.symbolic_instant import InstantPath
from coherence.verify.systems.terms import Guard, Term, guard, unit
from coherence.verify.systems.transitions import Encoder, ModelReading

WAITED = "waited"  # 0: nothing is due; else one second more than the time for which an answer has been due
BEFORE = Fraction(-1)  # of it: before the first instant


class Counting(Encoder):
    """Encodes a model under one schedule; the broken mode is entered when an answer is late."""

    def __init__(
        self, model: Model, schedule: PhasePattern, response: BoundedResponse, *, reading: ModelReading, deadline: float
    ) -> None:
        super().__init__(model, schedule, Logic("or", response.trees), reading=reading, deadline=deadline)
        self.response = response
        self.counters = (*self.counters, WAITED)

    def _initial(self) -> Iterator[tuple[SystemMode, Guard]]:
        place = len(self.remembered) + self.counters.index(WAITED)
        for mode, condition in super()._initial():
            memory = (*mode.memory[:place], BEFORE, *mode.memory[place + 1 :])
            yield replace(mode, memory=memory), condition

    def _bad(self, mode: SystemMode) -> Iterator[tuple[str, Guard]]:
        del mode
        return iter(())  # only the edges into the broken mode are bad

    def _edges(self, mode: SystemMode) -> Iterator[tuple[SystemMode | None, Guard, dict[str, Term], str]]:
        moment = self.plan.moments[mode.position]
        following = (mode.position + 1) % len(self.plan.moments)
        rows = [row for p in self.varying for row in inside(unit(p), self.model.constants[p].range)]
        begin = guard(rows)
        assert begin is not None
        waited = self._counted(self._way(mode), mode)
        if waited.memory[WAITED] > 1 + self.response.within:
            yield None, begin, {}, "late"
            return
        seen = set()
        for drifted in self._drifted(replace(waited, guard=begin), mode, moment):
            for way in self._delivered(drifted, moment):
                for stepped in self._through(way, moment):
                    target, cells = self._mode(following, stepped), super()._changed_cells(stepped)
                    key = (target, frozenset(stepped.guard.spans.items()), frozenset(cells.items()))
                    if key not in seen:
                        seen.add(key)
                        yield target, stepped.guard, cells, " ".join(stepped.label) or "step"

    def _through(self, way: InstantPath, moment: Moment) -> Iterator[InstantPath]:
        """Yields paths through an instant: sampled (where that differs from what was left), decided, stepped."""
        first = way.memory[WAITED] == BEFORE
        begun = way.remembering({WAITED: Fraction(0)}) if first else way
        looked = self._looked_at(begun, moment, moment.time if first else Fraction(0))
        for view in looked if first or moment.landings else (way,):
            for order in orders(moment.loops):
                for decided in self._decided(view, order, moment):
                    for stepped in self._stepped(decided, moment):
                        yield from self._looked_at(stepped, moment)

    def _counted(self, way: InstantPath, mode: SystemMode) -> InstantPath:
        """Returns the path with the time since the instant before added to the wait."""
        if way.memory[WAITED] <= 0:
            return way
        moments = self.plan.moments
        here, before = moments[mode.position].time, moments[mode.position - 1].time
        gap = (here - before) % self.plan.hyperperiod or self.plan.hyperperiod
        return way.remembering({WAITED: way.memory[WAITED] + gap})

    def _looked_at(self, way: InstantPath, moment: Moment, since: Fraction = Fraction(0)) -> Iterator[InstantPath]:
        """Yields ways by what holds; what is seen has held for `since` seconds."""
        symbols, waited = self.symbols(way, moment, who="the promise"), way.memory[WAITED]
        for answer in forks(self.response.then, symbols):
            under = way.under(answer.guard)
            if under is None:
                continue
            if answer.holds:
                yield under.remembering({WAITED: Fraction(0)})
            elif waited:
                yield under
            else:
                yield from self._at_question(under, moment, since)

    def _at_question(self, way: InstantPath, moment: Moment, since: Fraction) -> Iterator[InstantPath]:
        for question in forks(self.response.first, self.symbols(way, moment, who="the promise")):
            under = way.under(question.guard)
            if under is not None:
                yield under.remembering({WAITED: 1 + since if question.holds else Fraction(0)})


def held_in_time(model: Model, response: BoundedResponse, deadline: float) -> list[str] | str:
    """Returns a certificate for every order of the instants, or why there is none.  Raises NotLinearError."""
    ways, certificates = readings(model), list[str]()
    for schedule in schedules(model, (response.within,)):

        def attempt(reading: ModelReading, until: float, schedule: PhasePattern = schedule) -> InvariantProof | str:
            left = left_until(until)
            system = Counting(model, schedule, response, reading=reading, deadline=until).system()
            answer = prove(system, time_limit=left)
            return answer if isinstance(answer, InvariantProof) else answer.reason

        proof = first_reading(ways, deadline, attempt)
        if isinstance(proof, str):
            return proof
        ways = [proof[0], *(way for way in ways if way != proof[0])]
        certificates.append(proof[1].certificate)
    return certificates
