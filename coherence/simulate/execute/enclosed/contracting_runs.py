"""Shows where a run comes to rest whose exact numbers grow beyond use: by enclosures and a region that contracts.

The run from its start is followed in enclosures.  Around the point that it nears lies a box that m laps map into
itself, any two points of it drawing together (mean value theorem, largest sum of the sizes of derivatives below one).
Once the run is inside, it closes in on the one point of the box that a lap does not move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.findings.question_input import Certificate, rational
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Call, Held, walk
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.enclosed.enclosed_numbers import BITS, EnclosedNumber, enclosed, widest
from coherence.simulate.execute.exact import Choices, Execution, Instant
from coherence.simulate.execute.orbits import hyperperiod

MOST_LAPS, FIRST_TRY = 1024, 8
MOST_SETTLING = 4_000  # laps of midpoints until they move no more
STILL, SMALLEST = Fraction(1, 2**96), Fraction(1, 2**64)
SLOWING, SLOWER = 128, Fraction(9, 10)  # laps after which it must have slowed down, in the second half of them
POWERS = (1, 2, 4, 8, 16, 32)
Numbers = Mapping[str, EnclosedNumber]
Look = Callable[["EnclosedExecution", Instant], None]
HOW = "a run in intervals of bounded length, into a box in which all runs draw together"


class EnclosedExecution(Execution):
    """A run over enclosures, of loops that remember nothing between two samples but their command."""

    def is_same(self, value: Any, before: Any) -> bool:  # noqa: ARG002
        """Says that every write is a change: nothing rests on when the last one was."""
        return False

    def at_ends(self, fresh: dict[str, Any]) -> list[Any]:  # noqa: ARG002
        """Names no state: nothing rests on which ones are at an end of their range."""
        return []


@dataclass(frozen=True)
class Attraction:
    """`entered`: from when on the run is in the box (s); `centre` and the box's `radius`; `reach`: how far from the
    centre the point of rest lies at most; `at`: the run with its numbers left to be set; `script`: the arithmetic.
    """

    entered: Fraction
    centre: Mapping[str, Fraction]
    fixed: frozenset[str]
    radius: Fraction
    reach: Fraction
    at: Execution
    script: str

    def box(self, radius: Fraction) -> EnclosedExecution:
        """Returns all runs that start within a radius of the centre."""
        return _placed(self.at, self.centre, self.fixed, radius)


def attractions(
    model: Model, choices: Choices, look: Look = lambda _run, _instant: None, check: Callable[[], object] = bool
) -> Iterator[Attraction]:
    """Yields where the run of these choices comes to rest, in ever smaller boxes; nothing where that is not shown.

    `look` sees every instant until the run is inside; `check` may raise to end it.  Raises NotExactError.
    """
    if _remembers(model):
        return
    run, whole = EnclosedExecution(model, choices), hyperperiod(model)
    if run.schedule:
        return
    centre: Mapping[str, Fraction] = {}
    follow(run, Fraction(0), look)
    for lap in range(1, MOST_LAPS + 1):
        check()
        follow(run, lap * whole, look)
        if lap >= FIRST_TRY and not lap & (lap - 1):
            centre = centre or _centre(run, whole, check)
            inside = _inside(run, whole, centre, check)
            if inside is not None:
                yield inside


def follow(run: EnclosedExecution, until: Fraction, look: Look = lambda _run, _instant: None) -> None:
    """Goes on to a time, with numbers that stay short."""
    while run.next_time() <= until:
        look(run, run.advance())
        run.map_numbers(lambda _, value: enclosed(value).rounded())


def _remembers(model: Model) -> bool:
    """Decides whether a model has flows, clocks of several kinds, or loops whose memory is more than their command."""
    whole, writers = hyperperiod(model), Counter(loop.signal for loop in model.loops)
    clocks = [*(loop.period for loop in model.loops), *(s.step for s in model.states.values())]
    trees = (*(t for loop in model.loops for t in loop.trees), *model.outputs.values())
    nodes = (node for tree in trees for node in walk(tree))
    streaks = (isinstance(n, Held) or (isinstance(n, Call) and n.function == "previous") for n in nodes)
    several = any(count > 1 for count in writers.values()) or any(clock != whole for clock in clocks)
    open_ = model.inputs or any(constant.varies for constant in model.constants.values())
    return bool(open_) or several or any(map(_has_memory, model.loops)) or any(streaks)


def _has_memory(loop: SampledLoop) -> bool:
    """Decides whether what a loop does rests on more than its command and whether it is on."""
    return bool(loop.hold_down or loop.hold_up or loop.rates or loop.cooldown is not None or loop.mode != "always")


def _inside(
    run: EnclosedExecution, whole: Fraction, centre: Mapping[str, Fraction], check: Callable[[], object]
) -> Attraction | None:
    start = _numbers(run)
    if start.keys() != centre.keys():
        return None
    fixed = frozenset(name for name, x in start.items() if x.low == x.high == centre[name])
    away = max((max(abs(x.low - centre[n]), abs(x.high - centre[n])) for n, x in start.items()), default=Fraction(0))
    radius = 2 * away + SMALLEST
    for power in POWERS:
        check()
        try:
            shown = _contracts(run, whole, power, centre, fixed, radius)
        except NotExactError:
            return None
        if shown is not None:
            reach, claims = shown
            claims += [f"(<= {rational(away)} {rational(radius)})"]
            script = Certificate(claim="\n  ".join(["(and true", *claims]) + ")").script()
            return Attraction(run.time, centre, fixed, radius, reach, run.copy(), script)
    return None


def _contracts(
    run: EnclosedExecution, whole: Fraction, power: int, centre: Mapping[str, Fraction], fixed: frozenset[str],
    radius: Fraction,
) -> tuple[Fraction, list[str]] | None:  # fmt: skip
    """Returns how far the point of rest is from the centre at most, and the claims; None where nothing is shown."""
    after = _after(_placed(run, centre, fixed, radius), run, power * whole)
    of_centre = _after(_placed(run, centre, fixed, Fraction(0)), run, power * whole)
    if after is None or of_centre is None or any(enclosed(after[n]).ends != (centre[n],) * 2 for n in fixed):
        return None
    rows = {n: (widest(after[n].slopes.values()), _off(of_centre[n], centre[n])) for n in centre.keys() - fixed}
    shrink, off = (max((row[k] for row in rows.values()), default=Fraction(0)) for k in (0, 1))
    if shrink >= 1 or off + shrink * radius >= radius:
        return None
    reach = off / (1 - shrink)
    near = _after(_placed(run, centre, fixed, reach), run, whole)
    if near is None or any(_off(near[n], centre[n]) > radius for n in rows):
        return None
    size = rational(radius)
    claims = [f"(< (+ {rational(d)} (* {rational(q)} {size})) {size})" for q, d in rows.values()]
    return reach, [*claims, *(f"(< {rational(q)} 1.0)" for q, _ in rows.values())]


def _after(box: EnclosedExecution, run: EnclosedExecution, span: Fraction) -> Numbers | None:
    """Returns the numbers a while later; None where loops are on that were off, or others are under way."""
    names = _numbers(box).keys()
    follow(box, run.time + span)
    numbers = _numbers(box)
    return numbers if box.modes == run.modes and numbers.keys() == names else None


def _off(x: EnclosedNumber, centre: Fraction) -> Fraction:
    return max(abs(x.low - centre), abs(x.high - centre))


def _numbers(run: EnclosedExecution) -> Numbers:
    numbers: dict[str, EnclosedNumber] = {}

    def read(name: str, value: Any) -> Any:
        numbers[name] = enclosed(value)
        return value

    run.copy().map_numbers(read)
    return numbers


def _placed(
    run: Execution, centre: Mapping[str, Fraction], fixed: frozenset[str], radius: Fraction
) -> EnclosedExecution:
    """Returns a run that goes on from a box around a centre, each number with its derivative."""

    def place(name: str, value: Any) -> Any:  # noqa: ARG001
        at = centre[name]
        if name in fixed:
            return EnclosedNumber(at, at)
        low, high = (_within(run, name, end) for end in (at - radius, at + radius))
        return EnclosedNumber(low, high, {name: (Fraction(1), Fraction(1))})

    twin = run.copy()
    assert isinstance(twin, EnclosedExecution)
    twin.map_numbers(place)
    return twin


def _within(run: Execution, name: str, number: Fraction) -> Fraction:
    """Returns the nearest number in the range of a signal, and in the bounds of its only writer: a lap stays there."""
    path = name.rsplit(" ", maxsplit=1)[-1]
    signal = run.model.commands.get(path) or run.model.states[path]
    writer = next((loop.bounds for loop in run.model.loops if loop.signal == path), signal.range)
    return signal.range.clip(writer.clip(number))


def _centre(run: EnclosedExecution, whole: Fraction, check: Callable[[], object]) -> dict[str, Fraction]:
    """Returns where the middle of a run comes to, up to rounding: a guess, of which nothing is assumed.

    Raises NotExactError where it does not slow down.
    """
    twin = run.copy()
    assert isinstance(twin, EnclosedExecution)
    twin.map_numbers(_middle)
    before, speeds = {name: x.low for name, x in _numbers(twin).items()}, list[Fraction]()
    for lap in range(1, MOST_SETTLING):
        check()
        follow(twin, run.time + lap * whole)
        twin.map_numbers(_middle)
        after = {name: x.low for name, x in _numbers(twin).items()}
        if after.keys() != before.keys():
            break
        speeds.append(max((abs(after[name] - before[name]) for name in after), default=Fraction(0)))
        if speeds[-1] < STILL:
            return after
        if lap >= SLOWING and speeds[-1] > SLOWER * speeds[lap // 2 - 1]:
            break
        before = after
    raise NotExactError("a run that is not seen to come to rest")


def _middle(_: str, value: Any) -> Any:
    x = enclosed(value)
    if x.low == x.high:
        return x
    at = Fraction(round((x.low + x.high) / 2 * 2**BITS), 2**BITS)
    return EnclosedNumber(at, at)
