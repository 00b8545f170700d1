"""Input that is meant to break: each gets a clear answer, in time, without an internal error."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench._verify_scale import large
from coherence.cli._run import run
from coherence.language.expressions.parse import MAX_LENGTH

HEAD = "coherence: 1\n"
RING = "calls:\n" + "".join(f"  - {{from: c{n}, to: c{(n + 1) % 30}, tries: 3, deadline: 2 s}}\n" for n in range(30))
RING_OF_TIMERS = "timers:\n" + "".join(
    f"  t{n}: {{from: t{(n + 1) % 40} fires, after: 3 s, unless: t{(n + 2) % 40} fires}}\n" for n in range(40)
)
RING_OF_LOOPS = "loops:\n" + "".join(
    f"  l{n}: {{timescale: {{period: 1 s}}, trigger: not l{(n + 1) % 40} and x.y > {n},"
    f" actuation: {{signal: x.y, by: 1, law: step}}}}\n"
    for n in range(40)
)
HUGE = "1" + "0" * 30
DESIGNS = {
    "ring of calls": RING,
    "ring of timers": RING_OF_TIMERS,
    "ring of loops": RING_OF_LOOPS,
    "call to itself": "calls: [{from: a, to: a, tries: 3, per_try: 1 s, deadline: 2 s}]\n",
    "budgets of zero": "calls: [{from: a, to: b, tries: 0, per_try: 0 s, deadline: 0 s}]\n",
    "zero steps": "components: {a: {turns: 0}}\nlimits: {l: {counts: 2 * a.turns, at_most: 0}}\n",
    "unlimited": "calls: [{from: a, to: b, tries: unlimited}, {from: b, to: c, tries: unlimited, deadline: absent}]\n",
    "unlimited in time": "calls: [{from: a, to: b, tries: unlimited, per_try: 1 s, pause: 0 s, deadline: 3 s}]\n",
    "unlimited promise": "calls: [{from: a, to: b, tries: unlimited}]\npromises: {p: attempts(b) per call(a) <= 3}\n",
    "many tries": "calls: [{from: a, to: b, tries: 1000000000, per_try: 1 ms, deadline: 1 s, pause: {base: 1 ms}}]\n",
    "many nested tries": "calls:\n"
    + "".join(f"  - {{from: c{n}, to: c{n + 1}, tries: 1000000000, per_try: 3 s}}\n" for n in range(30))
    + "promises: {p: attempts(c30) per call(c0) <= 4}\n",
    "long": f"calls: [{{from: a, to: b, deadline: {HUGE} s, per_try: {HUGE} s, tries: 3}}]\n",
    "long timer": f"components: {{a: {{takes: {{x: {HUGE} s}}}}}}\n"
    f"timers: {{t: {{from: a.x starts, every: 1 us, misses: {HUGE}, unless: a.x ends, then: restart a}}}}\n",
    "long period": f"loops: {{l: {{timescale: {{period: {HUGE} s}}, trigger: x.y > 1,"
    " actuation: {signal: x.y, by: -1, law: step, bounds: [0, 9]}}}\npromises: {p: always x.y <= 9}\n",
    "short period": "loops: {l: {timescale: {period: 0.000000000001 s}, trigger: x.y > 1,"
    " actuation: {signal: x.y, by: -1, law: step, bounds: [0, 9], from: 9}}}\npromises: {p: eventually x.y <= 1}\n",
    "zero period": "loops: {l: {timescale: {period: 0 s}, actuation: {signal: x.y, to: 1}}}\n",
    "negative period": "loops: {l: {timescale: {period: -3 s}, actuation: {signal: x.y, to: 1}}}\n",
    "negative time": "timers: {t: {from: a starts, after: -3 s}}\n",
    "units": "loops: {l: {trigger: x.y > 3 s and x.y < 4 req/s, actuation: {signal: x.y, to: 3 kW}}}\n",
    "unit of a limit": "limits: {l: {counts: 3 s + 4 kW, at_most: 5 req}}\n",
    "keywords": "components: {always: {takes: {ends: 1 s}}, fires: {copies: 2}, not: {copies: 1}}\n"
    "timers: {after: {from: always.ends starts, after: 2 s, then: restart fires}}\n"
    "loops: {for: {trigger: always, actuation: {signal: if.else, to: 1}}}\n"
    "limits: {and: {counts: fires.or, at_most: 1}}\n",
    "deep expression": f"limits: {{l: {{counts: {'(' * 3000}1{')' * 3000}, at_most: 3}}}}\n",
    "deep negation": f"promises: {{p: always {'not ' * 700}a.b}}\n",
    "long sum": f"limits: {{l: {{counts: {' + '.join(['a.b'] * 900)}, at_most: 3}}}}\n",
    "one megabyte": f"limits: {{l: {{counts: {'a.b + ' * 170_000} 1, at_most: 3}}}}\n",
    "one megabyte of a promise": f"promises: {{p: always {'a.b and ' * 125_000} c.d}}\n",
    "nested uses": "loops:\n"
    + "".join(
        f"  l{n}: {{uses: kubernetes_hpa, target: {{signal: l{n}.x, setpoint: 1}},"
        f" actuation: {{signal: p{n}.d, bounds: [1, 9]}}}}\n"
        for n in range(300)
    ),
    "uses of itself": "loops: {kubernetes_hpa: {uses: kubernetes_hpa, target: {signal: a.x, setpoint: 1},"
    " actuation: {signal: kubernetes_hpa.desired, bounds: [1, 9]}}}\n",
    "outputs in a ring": "components: {a: {x: b.y + 1}, b: {y: a.x * 2}}\n"
    "loops: {l: {trigger: a.x > 1, actuation: {signal: c.d, to: 1}}}\n",
    "outputs in a chain": "components:\n"
    + "".join(f"  a{n}: {{x: a{n + 1}.x + 1}}\n" for n in range(1500))
    + "  a1500: {x: 1}\nloops: {l: {timescale: {period: 1 s}, trigger: a0.x > 1, actuation: {signal: c.d, to: 1}}}\n",
    "many ways": "calls:\n"
    + "".join(f"  - {{from: c{n}, to: c{n + 1}, tries: 2, per_try: {n + 1} s}}\n" * 2 for n in range(30))
    + "promises: {p: attempts(c30) per call(c0) <= 4}\n",
    "many promises": "promises:\n" + "".join(f"  p{n}: always a.b <= {n}\n" for n in range(150)),
    "many alternatives": f"promises: {{p: always {' and '.join(f'(a{n}.b < 1 or a{n}.c > 2)' for n in range(40))}}}\n",
    "jobs in each other": "components: {cpu: {count: 3}, q: {deserved: 1 cpu}}\n"
    "jobs: {a: {queue: q, needs: 0 cpu}, b: {queue: q, needs: 1000000 cpu}}\n"
    "order: {admit: smallest queue.used / queue.deserved first, preempt: for a take a where a.queue.used > 0,"
    " victim: returns}\n",
    "more copies than places": "components: {web: {copies: 1000000000, returns: always}}\nplaces: {node: {count: 3}}\n"
    "placement: {web: [spread by node <= 0]}\n"
    "loops: {e: {timescale: {period: 5 min}, trigger: count of web by node > 1, actuation: {evict: web}}}\n",
}
LONG = {"ring of calls", "ring of loops", "many nested tries", "many ways", "outputs in a chain"}  # seconds each


def checked(text: str, folder: Path, *options: str) -> int:
    """The exit code of a check; 3 is an internal error."""
    path = folder / "design.yaml"
    path.write_text(text)
    return run(["check", str(path), *options])


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in DESIGNS])
def test_a_clear_answer(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.process_time()
    code = checked(HEAD + DESIGNS[name], tmp_path, "--time-limit", "2")
    said = capsys.readouterr()
    assert code in (0, 1, 2), said.err
    assert "internal error" not in said.err
    assert "Traceback" not in said.err
    assert (code == 2) == ("nothing was checked" in said.err), said.err[:300]
    assert len(said.out) + len(said.err) < 400_000
    assert time.process_time() - start < 12


def test_a_short_limit_is_kept(tmp_path: Path) -> None:
    start = time.process_time()
    assert checked(large(100), tmp_path, "--time-limit", "0.1", "-o", f"json={tmp_path / 'out.json'}") in (0, 1)
    assert time.process_time() - start < 30
    assert (tmp_path / "out.json").stat().st_size > 1000


def test_the_longest_expression_is_stated() -> None:
    assert MAX_LENGTH <= 100_000
