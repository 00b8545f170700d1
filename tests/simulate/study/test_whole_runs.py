"""Runs are judged and read over their whole time: drawn designs beside a plain trace on a grid of eighths of a second.

The trace is made without the executor: it looks at every eighth of a second, as sampled, after it, and in its middle.
All times and limits of the drawn designs are such that nothing happens off the grid, but for means over windows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

import coherence as co
from coherence.base.number_text import render_seconds
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.exact import Execution
from coherence.simulate.study import exact_runs
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting
from coherence.simulate.study.truth_spans import ConditionFollower
from tests.draws import seeds

GRID = 8  # looks a second
DRAWS = 240
KINDS = ("always", "never", "eventually", "eventually_always")
World = dict[str, Fraction]


@dataclass
class Plain:
    """A drawn design, and what a plain trace needs of it.  Times are in seconds."""

    period: int
    phase: int
    lands: int
    to: int
    start: int
    other_period: int
    other_phase: int
    by: int
    from_: int
    step: int
    rise: int
    fall: int
    enter: int
    leave: int
    until: Fraction
    trace: list[tuple[int, str, World]] = field(default_factory=list)

    def text(self, promises: dict[str, str]) -> str:
        lands = f", lands: {self.lands} s" if self.lands else ""
        told = "\n".join(f'  {name}: "{words}"' for name, words in promises.items())
        return f"""coherence: 1
components:
  x: {{n: 0 .. 9}}
  y: {{n: 0 .. 9}}
  z: {{n: 0 .. 9}}
  s: {{state: "v' = s.v + y.n", step: {self.step} s, from: 0}}
  p: {{state: "v' = {self.rise} / 1 s if y.n >= 3 else -{self.fall} / 1 s", from: 4}}
loops:
  a:
    timescale: {{period: {self.period} s, phase: {self.phase} s{lands}}}
    trigger: y.n >= 2
    actuation: {{signal: x.n, law: set, to: {self.to}, from: {self.start}, bounds: [0, 9]}}
  b:
    timescale: {{period: {self.other_period} s, phase: {self.other_phase} s}}
    trigger: always
    actuation: {{signal: y.n, law: step, by: {self.by}, from: {self.from_}, bounds: [0, 5]}}
  c:
    trigger: {{enter: p.v >= {self.enter}, leave: p.v < {self.leave}}}
    actuation: {{signal: z.n, law: set, to: 7, from: 1, bounds: [0, 9]}}
promises:
{told}
"""

    def run(self) -> None:
        """Traces (eighth, phase, world): as sampled, after, and in the middle to the next."""
        x, y, z, s, p = Fraction(self.start), Fraction(self.from_), Fraction(1), Fraction(0), Fraction(4)
        landing: list[tuple[int, Fraction]] = []
        for now in range(int(self.until * GRID) + 1):
            while landing and landing[0][0] <= now:
                x = landing.pop(0)[1]
            self.trace.append((now, "sampled", {"x": x, "y": y, "z": z, "s": s, "p": p}))
            seen = y
            if self._due(now, self.period, self.phase) and seen >= 2:
                if self.lands:
                    landing.append((now + self.lands * GRID, Fraction(self.to)))
                else:
                    x = Fraction(self.to)
            if self._due(now, self.other_period, self.other_phase):
                y = min(Fraction(5), max(Fraction(0), y + self.by))
            if self._due(now, self.step, 0):
                s += y
            rate = Fraction(self.rise if y >= 3 else -self.fall)
            if p + rate / (2 * GRID) >= self.enter:
                z = Fraction(7)
            self.trace.append((now, "after", {"x": x, "y": y, "z": z, "s": s, "p": p}))
            middle = p + rate / (2 * GRID)
            self.trace.append((now, "middle", {"x": x, "y": y, "z": z, "s": s, "p": middle}))
            p += rate / GRID
        del self.trace[-1]

    def _due(self, now: int, period: int, phase: int) -> bool:
        return now >= phase * GRID and (now - phase * GRID) % (period * GRID) == 0

    def at(self, now: int, phase: str) -> World:
        """Returns the world an eighth and phase; before 0 s what it was at first."""
        if now < 0:
            return self.trace[0][2]
        return self.trace[3 * now + ("sampled", "after", "middle").index(phase)][2]


@pytest.fixture(autouse=True)
def no_search_for_what_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out what becomes of runs in the long run: it takes long, and says nothing of the run itself."""
    monkeypatch.setattr(exact_runs, "_for_ever", lambda *_: ((), None))


Truth = Callable[[int, str], bool]
COMPARED: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip


def drawn(chance: random.Random) -> Plain:
    period, other = chance.choice((2, 3, 4, 10)), chance.choice((2, 3, 5, 7))
    enter = chance.randint(5, 12)
    return Plain(
        period, chance.randrange(period), chance.choice((0, 0, 1, 2)), chance.randint(0, 9), chance.randint(0, 9),
        other, chance.randrange(other), chance.choice((-1, 1, 2)), chance.randint(0, 5), chance.choice((1, 3, 8)),
        chance.choice((1, 2)), chance.choice((1, 2)), enter, chance.randint(0, enter - 2),
        Fraction(chance.randint(1, 60), chance.choice((1, 2))),
    )  # fmt: skip


def condition(chance: random.Random, plain: Plain) -> tuple[str, Truth, bool]:
    """Returns a drawn condition in the language, its truth in the trace, and whether it turns on the grid alone."""
    name = chance.choice("xyzsp")
    path, op, limit = f"{name}.{'v' if name in 'sp' else 'n'}", chance.choice(tuple(COMPARED)), chance.randint(1, 9)
    compare = COMPARED[op]

    def simple(now: int, phase: str) -> bool:
        return compare(plain.at(now, phase)[name], Fraction(limit))

    words, form = f"{path} {op} {limit}", chance.choice(("plain", "plain", "both", "delayed", "held", "mean"))
    span = chance.choice((1, 2, 5))
    if form == "both":
        more, also, on_grid = condition(chance, plain)
        if chance.random() < 0.5:
            return f"({words}) and ({more})", lambda now, phase: simple(now, phase) and also(now, phase), on_grid
        return f"({words}) or ({more})", lambda now, phase: simple(now, phase) or also(now, phase), on_grid
    if form == "delayed":

        def late(now: int, phase: str) -> bool:
            before = "middle" if phase == "middle" else "sampled"
            return compare(plain.at(now - span * GRID, before)[name], Fraction(limit))

        return f"delayed({path}, {span} s) {op} {limit}", late, True
    if form == "held":
        return f"({words} for {span} s)", _held(plain, simple, span), True
    if form == "mean" and name in "xyz":
        return f"mean_over({path}, {span} s) {op} {limit}", _mean(plain, name, span, compare, limit), False
    return words, simple, True


def _held(plain: Plain, simple: Truth, span: int) -> Truth:
    since: int | None = None
    truths: dict[tuple[int, str], bool] = {}
    for now, phase, _ in plain.trace:
        since = (now if since is None else since) if simple(now, phase) else None
        truths[now, phase] = since is not None and now - since >= span * GRID
    return lambda now, phase: truths[now, phase]


def _mean(plain: Plain, name: str, span: int, compare: Callable[[Fraction, Fraction], bool], limit: int) -> Truth:
    def truth(now: int, phase: str) -> bool:
        cells = [plain.at(k, "middle")[name] for k in range(now - span * GRID, now)]
        half = (plain.at(now, phase)[name] - cells[0]) / 2 if phase == "middle" else Fraction(0)
        return compare((sum(cells, Fraction(0)) + half) / (span * GRID), Fraction(limit))

    return truth


def breaks(plain: Plain, kind: str, truth: Truth) -> tuple[Fraction, bool] | None:
    """Returns when a promise of a condition for all times is first broken, and whether just after that time."""
    for now, phase, _ in plain.trace:
        if truth(now, phase) is (kind == "never"):
            return Fraction(now, GRID), phase == "middle"
    return None


def expected(plain: Plain, kind: str, truth: Truth) -> str:
    if kind in ("always", "never"):
        return "held" if breaks(plain, kind, truth) is None else "broken"
    if kind == "eventually":
        return "held" if any(truth(now, phase) for now, phase, _ in plain.trace) else "undecided"
    tenth = plain.until * Fraction(9, 10)
    late = any(
        not truth(now, phase) for now, phase, _ in plain.trace
        if Fraction(now, GRID) >= tenth or (phase == "middle" and Fraction(now + 1, GRID) > tenth)
    )  # fmt: skip
    return "undecided" if late else "held"


def ran(plain: Plain, promises: dict[str, str]) -> Study:
    return study(read_text(plain.text(promises), "d.yaml"), Setting(float(plain.until), seeds=(1,)))


def a_case(seed: int) -> Iterator[tuple[Plain, dict[str, str], dict[str, tuple[str, Truth, bool]]]]:
    chance = random.Random(seed)  # noqa: S311
    plain = drawn(chance)
    plain.run()
    conditions = {f"p{k}": (KINDS[k % 4], *condition(chance, plain)) for k in range(6)}
    yield plain, {n: f"{kind} {words}" for n, (kind, words, _, _) in conditions.items()}, {
        name: (kind, truth, on_grid) for name, (kind, _, truth, on_grid) in conditions.items()
    }  # fmt: skip


@pytest.mark.parametrize("part", seeds(1, 6))
def test_verdicts_and_dates_are_those_of_a_plain_trace(part: int) -> None:
    for seed in range(part * DRAWS // 6, (part + 1) * DRAWS // 6):
        for plain, promises, conditions in a_case(seed):
            for judged in ran(plain, promises).promises:
                kind, truth, on_grid = conditions[judged.promise.name]
                told = (seed, promises[judged.promise.name], judged.message, plain.text(promises))
                wanted = expected(plain, kind, truth)
                assert str(judged.verdict) == wanted, told
                if wanted == "broken":
                    time, after = breaks(plain, kind, truth) or (Fraction(0), False)
                    assert judged.seconds is not None
                    room = 0 if on_grid else 1 / GRID
                    assert abs(judged.seconds - float(time)) <= room, (time, *told)
                    assert room or ("just after" in judged.message) is after, (time, *told)


def unanswered(plain: Plain, asks: Truth, answers: Truth, within: int) -> Fraction | None:
    """Returns when the first answer is due that does not come in time, look by look."""
    looks = [(Fraction(now, GRID), phase == "middle", asks(now, phase), answers(now, phase))
             for now, phase, _ in plain.trace]  # fmt: skip
    late: list[Fraction] = []
    for number, (time, open_, is_asked, _) in enumerate(looks):
        last = time + within
        came = (
            at < last or (at == last and (open_ or not later_open)) or place == number
            for place, (at, later_open, _, is_answered) in enumerate(looks[number:], number) if is_answered
        )  # fmt: skip
        if is_asked and not next(came, False) and (last < plain.until or (last == plain.until and not open_)):
            late.append(last)
    return min(late, default=None)


@pytest.mark.parametrize("part", seeds(1, 3))
def test_answers_to_conditions_are_late_where_a_plain_trace_says_so(part: int) -> None:
    verdicts: set[str] = set()
    for seed in range(1000 + part * 40, 1040 + part * 40):
        chance = random.Random(seed)  # noqa: S311
        plain = drawn(chance)
        plain.run()
        sides = [(condition(chance, plain), condition(chance, plain), chance.choice((1, 2, 4))) for _ in range(4)]
        on_grid = [side for side in sides if side[0][2] and side[1][2]]
        promises = {
            f"p{k}": f"after {first[0]} then {then[0]} within {within} s"
            for k, (first, then, within) in enumerate(on_grid)
        }
        for judged, (first, then, within) in zip(ran(plain, promises).promises, on_grid, strict=True):
            due = unanswered(plain, first[1], then[1], within)
            told = (seed, judged.promise.text, judged.message, plain.text(promises))
            assert str(judged.verdict) == ("held" if due is None else "broken"), (due, *told)
            assert judged.seconds == (None if due is None else float(due)), (due, *told)
            verdicts.add(str(judged.verdict))
    assert verdicts == {"held", "broken"}


@pytest.mark.parametrize("part", seeds(1, 6))
def test_readings_are_those_of_a_plain_trace(part: int) -> None:
    for seed in range(part * DRAWS // 6, (part + 1) * DRAWS // 6):
        for plain, _, _ in a_case(seed):
            told = {(r.of, r.what): r.value for r in ran(plain, {"p": "always x.n >= 0"}).readings}
            for name in "xyzsp":
                path = f"{name}.{'v' if name in 'sp' else 'n'}"
                middles = [world[name] for _, phase, world in plain.trace if phase == "middle"]
                afters = [world[name] for _, phase, world in plain.trace if phase == "after"]
                wanted = {"mean": sum(middles) / len(middles), "least": min(afters), "most": max(afters),
                          "last": afters[-1]}  # fmt: skip
                for what, number in wanted.items():
                    assert told[path, what] == pytest.approx(float(number)), (seed, path, what, plain.text({}))


CURVES = """coherence: 1
components: {a: {state: "x' = 1 / 1 s", from: 0}, b: {state: "y' = 2 / 1 s", from: 0}}
promises: {p: "PROMISE"}
"""


@pytest.mark.parametrize(
    ("promise", "verdict", "message"),
    [
        ("never a.x * b.y > 20", "broken", "so just after 3.16"),  # 2 t^2 = 20
        ("always a.x * b.y < 201", "undecided", "moves in a curve"),
        ("eventually a.x * b.y >= 20", "held", "in this run"),
        ("never a.x > 4", "broken", "so just after 4 s: a.x = 4"),
        ("never a.x >= 4", "broken", "so at 4 s: a.x = 4"),
        ("never (a.x >= 4) and (b.y <= 8)", "broken", "so at 4 s"),
        ("never a.x + b.y == 7", "broken", "so at 2.333333 s"),
    ],
)
def test_what_flows_breaks_between_instants(promise: str, verdict: str, message: str) -> None:
    (judged,) = study(read_text(CURVES.replace("PROMISE", promise), "d.yaml"), Setting(10.0)).promises
    assert (str(judged.verdict), message in judged.message) == (verdict, True), judged.message


def test_a_condition_is_followed_without_a_trace_in_the_run() -> None:
    design = read_text(CURVES.replace("PROMISE", "never (a.x > 2 for 3 s)"), "d.yaml")
    promise = design.promises["p"].condition
    assert promise is not None
    run = Execution(elaborate(design))
    run.advance()
    spans = list(ConditionFollower(promise.tree).between(run, Fraction(9)))
    assert [(int(span.begin), int(span.end), span.holds) for span in spans] == [
        (0, 2, False), (2, 2, False), (2, 5, False), (5, 5, True), (5, 9, True),
    ]  # fmt: skip
    assert not run.watch.since


@pytest.mark.slow
def test_what_check_says_of_sampled_signals_is_what_runs_say() -> None:
    """All is stated in the drawn designs, so that a run that breaks a promise in `check` is the one that is run."""
    compared = 0
    for seed in range(16):
        chance = random.Random(seed)  # noqa: S311
        plain = drawn(chance)
        compare = {f"p{k}": f"{chance.choice(('always', 'never'))} {chance.choice('xy')}.n {chance.choice('<>')} "
                   f"{chance.randint(1, 8)}" for k in range(4)}  # fmt: skip
        judged = {each.promise.name: each for each in ran(plain, compare).promises}
        for finding in co.check(plain.text(compare)).findings:
            for name in (n for n, words in compare.items() if finding.code == "COH220" and words in finding.message):
                run, told = judged[name], (seed, finding.message, judged[name].message)
                after = finding.message.partition("broken after ")[2]
                if finding.verdict == "proved":
                    assert str(run.verdict) == "held", told
                elif run.seconds is not None:
                    assert not run.seconds or after == render_seconds(Fraction(run.seconds)), told
                else:
                    assert after != "0 s", told
                compared += 1
    assert compared > 16


@pytest.mark.slow
def test_what_check_says_of_answers_in_time_is_what_runs_say() -> None:
    """All is stated in the drawn designs, but for how loops meet: a run may keep what another one breaks."""
    verdicts: set[tuple[str, str]] = set()
    for seed in range(6):
        chance = random.Random(seed)  # noqa: S311
        plain = drawn(chance)
        plain.until = Fraction(90)
        sides = (f"{chance.choice('xy')}.n {chance.choice(tuple(COMPARED))} {chance.randint(1, 8)}" for _ in range(6))
        promises = {
            f"p{k}": f"after {first} then {then} within {chance.choice((0, 1, 2, 4, 6, 10))} s"
            for k, (first, then) in enumerate(zip(sides, sides, strict=True))
        }
        judged = {each.promise.name: each for each in ran(plain, promises).promises}
        for finding in co.check(plain.text(promises)).findings:
            for name in (name for name, words in promises.items() if words in finding.message):
                verdict = str(finding.verdict), str(judged[name].verdict)
                assert verdict not in {("proved", "broken"), ("vacuous", "broken"), ("conflict", "held")}, (
                    seed, finding.message, judged[name].message,
                )  # fmt: skip
                verdicts.add(verdict)
    assert {("proved", "held"), ("conflict", "broken")} <= verdicts
