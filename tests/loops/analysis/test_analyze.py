"""`coherence analyze`: designs and networks, text, JSON and pictures."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.loops.analysis.retry_products import amplified
from coherence.reporting.pictures.figure import Dots, Figure, Line, Panel
from coherence.reporting.pictures.svg import svg
from tests.paths import SPECS

NETWORK = """
network: 1
blocks:
  queue: {numerator: [1], denominator: [1, 0], delay: 10 s%s}
  scaler: {numerator: [%s], denominator: [1]}
couplings:
  - {from: queue, to: scaler}
  - {from: scaler, to: queue, gain: -1}
"""


def analyzed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["analyze", *words, "-o", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.slow
def test_serving_beside_batch_swings_and_the_loop_to_blame_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    analysis = analyzed(capsys, str(SPECS / "serving-hpc"), "--no-retune")
    (group,) = analysis["groups"]
    assert group["loops"] == ["autoscaler", "backfill"]
    assert (group["exact"]["verdict"], group["exact"]["period_seconds"]) == ("oscillates", 240.0)
    assert group["exact"]["ranges"]["gateway.backlog"] == [0.0, 600.0]
    assert group["exact"]["rests"] == []
    assert group["exact"]["ranges"]["batch.running"] == [8.0, 40.0]
    assert group["smallest_set"]["loops"] == ["backfill"]  # the autoscaler rests at its bound meanwhile
    assert any("backfill acts" in note for note in group["notes"])


@pytest.mark.slow
def test_its_repaired_twin_settles_although_each_branch_is_unstable(capsys: pytest.CaptureFixture[str]) -> None:
    analysis = analyzed(capsys, str(SPECS / "serving-hpc-repaired"), "--no-retune")
    groups = {group["loops"][0]: group for group in analysis["groups"]}
    for group in groups.values():
        assert (group["exact"]["verdict"], group["exact"]["grade"]) == ("settles", "proved")
        assert group["from_bounds"] == "settles"
    (point,) = groups["autoscaler"]["operating_points"]
    assert (point["verdict"], point["grade"]) == ("undecided", "linearised")
    assert {branch["verdict"] for branch in point["branches"]} == {"unstable"}
    assert point["inside_tolerance"]["verdict"] == "stable"


DRAINED = """\
coherence: 1
components: {tank: {level: 2 * tank.open}}
loops:
  valve:
    timescale: {period: 10 s, phase: 5 s}
    trigger: tank.level > 4
    actuation: {signal: tank.open, law: step, by: -1, bounds: [0, 9], from: START}
"""


@pytest.mark.parametrize(
    ("start", "rest", "line"),
    [
        (5, (5, 2, 5, 2, 25), "at 2 from 25 s on, from 5, never below 2 or above 5"),  # 5 s: 4, 15 s: 3, 25 s: 2
        (1, (1, 1, 1, 1, 0), "at 1 all the time"),
    ],
)
def test_where_a_command_comes_to_rest_and_how_far_it_goes_is_told(
    start: int, rest: tuple[int, ...], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "design.yaml"
    path.write_text(DRAINED.replace("START", str(start)))
    (group,) = analyzed(capsys, str(path))["groups"]
    keys = ("first", "lowest", "highest", "at", "seconds")
    assert group["exact"]["rests"] == [{"signal": "tank.open", **dict(zip(keys, rest, strict=True))}]
    assert run(["analyze", str(path)]) == 0
    assert line in capsys.readouterr().out


def test_a_delay_that_varies_is_undecided_and_no_crash(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = (SPECS / "hpa-startup-cpu" / "design.yaml").read_text(encoding="utf-8")
    varied = tmp_path / "design.yaml"
    varied.write_text(text.replace("delayed(app.replicas, app.boot)", "delayed(app.replicas, app.replicas)"))
    (group,) = analyzed(capsys, str(varied), "--no-retune")["groups"]
    assert (group["exact"]["verdict"], group["exact"]["how"]) == ("undecided", "a delay or window must be a constant")


@pytest.mark.slow
def test_throttle_and_backfill_are_to_blame_together(capsys: pytest.CaptureFixture[str]) -> None:
    found = analyzed(capsys, str(SPECS / "throttle-backfill"), "--no-retune")
    (group,) = found["groups"]
    assert group["smallest_set"] == {**group["smallest_set"], "loops": ["throttle", "backfill"], "minimal": True}


@pytest.mark.slow
def test_the_text_names_verdict_grade_and_margins(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze", str(SPECS / "hpa-metric-lag"), "--no-retune"]) == 0
    text = capsys.readouterr().out
    for part in ("hpa: never settles, period 18 s", "[proved]", "[linearised]", "up to 0.60542", "pool.replicas = 4.9"):
        assert part in text


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SPECS / "hpa-metric-lag")
    assert analyzed(capsys, path, "--no-retune") == analyzed(capsys, path, "--no-retune")


@pytest.mark.slow
def test_pictures_are_well_formed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "loops.svg"
    assert run(["analyze", str(SPECS / "hpa-metric-lag"), "--no-retune", "--picture", str(file)]) == 0
    text = ET.fromstring(file.read_text(encoding="utf-8"))  # noqa: S314  (our own file)
    words = "".join(text.itertext())
    assert "pool.replicas" in words
    assert "time, s" in words
    capsys.readouterr()


def test_a_png_needs_matplotlib_or_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    words = ["analyze", str(SPECS / "hpa-metric-lag"), "--picture", str(tmp_path / "a.png")]
    assert run(words) == 2
    assert "matplotlib" in capsys.readouterr().err
    assert run([*words[:-1], str(tmp_path / "a.gif")]) == 2
    assert ".svg or .png" in capsys.readouterr().err


def test_marks_differ_and_names_are_escaped() -> None:
    dots = tuple(Dots(f"<{kind}>", ((1.0, 2.0), (2.0, 1.0)), kind, k) for k, kind in enumerate("osx^dv-"))
    panel = Panel("a & b", "x", "y", (Line("curve", ((0.5, 1.0), (3.0, 4.0)), steps=True),), dots, "xy")
    text = svg(Figure("t < u", (panel,)))
    ET.fromstring(text)  # noqa: S314
    assert "a &amp; b" in text


@pytest.mark.slow
def test_a_network_of_blocks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(NETWORK % ("", "0.05"), encoding="utf-8")
    analysis = analyzed(capsys, "--network", str(file), "--picture", str(tmp_path / "net.svg"))
    assert analysis["verdict"] == "stable"
    high = analysis["margins"][0]["factor_high"]
    assert high == pytest.approx(3.14159265358979, rel=1e-6)  # (pi / 2) / (k T)
    file.write_text(NETWORK % ("", "0.5"), encoding="utf-8")
    assert run(["analyze", "--network", str(file), "-o", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "unstable"
    file.write_text(NETWORK % (", rate: 15 s", "0.01"), encoding="utf-8")
    assert analyzed(capsys, "--network", str(file), "--picture", str(tmp_path / "sampled.svg"))["verdict"] == "stable"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("blocks: {}\n", "no network of blocks"),
        ("network: 1\nblocks: {}\n", "name one block"),
        ("network: 1\nblocks: {a: 3}\n", "a is no block"),
        ("network: 1\nblocks: {a: {numerator: [1], denominator: [x]}}\n", "'x' is not a number"),
        ("network: 1\nblocks: {a: {numerator: [1], denominator: [1], delay: -1 s}}\n", "a delay is >= 0"),
        ("network: 1\nblocks: {a: {numerator: [1], denominator: [1, 1], gain: 2}}\n", "unknown key 'gain'"),
        ("network: 1\nblocks: {a: {numerator: [1, 0], denominator: [1]}}\n", "differentiates"),
        (
            "network: 1\nblocks: {web: {numerator: [1], denominator: [1, 1]}}\ncouplings: [{from: web, to: wed}]\n",
            "'web'?",
        ),
    ],
)
def test_a_network_that_is_wrong_is_told_at_its_place(
    text: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "net.yaml"
    file.write_text(text, encoding="utf-8")
    assert run(["analyze", "--network", str(file)]) == 2
    assert message in capsys.readouterr().err


def test_an_algebraic_loop_is_an_error_of_the_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text("coherence: 1\ncomponents: {web: {load: usage * 3, usage: load / 2}}\n", encoding="utf-8")
    assert run(["analyze", str(file)]) == 2
    assert "algebraic loop" in capsys.readouterr().err


@pytest.mark.slow
def test_a_thousand_loops_with_one_signal_are_answered_within_the_limit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    loops = "".join(
        f"  l{k}: {{timescale: {{period: {15 + k % 7} s}}, target: {{signal: web.usage, setpoint: 0.5}}, "
        f"actuation: {{signal: web.desired, law: proportional, bounds: [1, 1000]{', from: 120' if not k else ''}}}}}\n"
        for k in range(1000)
    )
    file = tmp_path / "design.yaml"
    file.write_text(f"coherence: 1\ncomponents: {{web: {{usage: 100 / desired}}}}\nloops:\n{loops}", encoding="utf-8")
    analysis = analyzed(capsys, str(file), "--time-limit", "2")
    (group,) = analysis["groups"]
    assert len(group["loops"]) == 1000
    assert (group["exact"]["verdict"], group["exact"]["how"]) == ("undecided", "the time limit was reached")


def test_retries_multiply_along_calls_that_retry_the_same_failure() -> None:
    design = read_text("""
coherence: 1
calls:
  - {from: app, to: sdk, tries: 4, retry_when: [rate_limited, timeout]}
  - {from: sdk, to: api, tries: 3, retry_when: [rate_limited]}
  - {from: api, to: store, tries: 5, retry_when: [timeout]}
""")
    (chain,) = amplified(design).paths
    assert chain.path == ("app", "sdk", "api", "store")
    assert chain.tries == 20
    assert chain.cause == "timeout"


def test_neither_a_path_nor_a_network_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["analyze"]) == 2
    assert "--network" in capsys.readouterr().err


def test_what_settles_from_its_stated_start_alone_says_so_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(
        """coherence: 1
components:
  a: {usage: 100 / x + (200 - y) / 150}
  b: {usage: 100 / y - (200 - x) / 150}
loops:
  one:
    timescale: {period: 10 s}
    target: {signal: a.usage, setpoint: 0.5, tolerance: 2 %}
    actuation: {signal: a.x, law: proportional, bounds: [50, 1000], from: 180}
  two:
    timescale: {period: 10 s}
    target: {signal: b.usage, setpoint: 0.5, tolerance: 2 %}
    actuation: {signal: b.y, law: proportional, bounds: [50, 1000], from: 200}
""",
        encoding="utf-8",
    )
    assert run(["analyze", str(file), "--no-retune"]) == 0
    text = capsys.readouterr().out
    assert "one and two: settle from the stated start, never from the ends of the bounds, period 20 s" in text
    assert "one and two together; every proper part is stable (linearised)" in text
    (group,) = analyzed(capsys, str(file), "--no-retune")["groups"]
    assert group["from_bounds"] == "oscillates"
    assert set(group["operating_points"][0]["pair"]["loops"]) == {"one", "two"}


@pytest.mark.slow
def test_operating_points_of_retries_stand_beside_the_loops(capsys: pytest.CaptureFixture[str]) -> None:
    (answer,) = analyzed(capsys, str(SPECS / "retry-storm"))["operating_points_of_retries"]
    assert answer["verdict"] == "conflict"
    points = [answer["numbers"][f"{name} load"]["value"] for name in ("healthy", "edge", "overload")]
    assert points == pytest.approx([50.1137, 97.7707, 150], rel=1e-5)
    (twin,) = analyzed(capsys, str(SPECS / "retry-storm-repaired"))["operating_points_of_retries"]
    assert twin["verdict"] == "proved"
    assert run(["analyze", str(SPECS / "retry-storm")]) == 0
    assert "edge load" in capsys.readouterr().out


def test_a_sampled_network_has_safe_factors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """z^2 - z + 5 k z + 10 k with k = 0.05 per second: the product of the roots is 10 k, so a factor of two remains."""
    file = tmp_path / "network.yaml"
    file.write_text((NETWORK % ("", "0.05")).replace("denominator: [1]}", "denominator: [1], rate: 15 s}"))
    analysis = analyzed(capsys, "--network", str(file))
    assert analysis["verdict"] == "stable"
    ((queue,), (scaler,)) = analysis["factors"], analysis["margins"]
    assert (queue["low"], scaler["factor_low"]) == (0.0, 0.0)
    assert (queue["high"], scaler["factor_high"]) == pytest.approx((2.0, 2.0), rel=1e-6)


def test_a_denominator_of_zeros_is_named_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "network.yaml"
    file.write_text((NETWORK % ("", "0.05")).replace("denominator: [1]}", "denominator: [0, 0]}"))
    assert run(["analyze", "--network", str(file)]) == 2
    assert f"{file}:5:" in capsys.readouterr().err


POOL = """\
coherence: 1
workload: {r: {rate: 20 req/s}}
components:
  q: {uses: queue, arrivals: r.attempts, served_by: pool}
  pool: {uses: replica_pool, rate_per_replica: 1 req/s, takes: {start: 5 s}}
loops:
  hpa:
    target: {signal: q.utilization, setpoint: 70 %, tolerance: 0 %, sensor: [scrape 5 s]}
    timescale: {period: 15 s}
    actuation: {signal: pool.desired, law: proportional, bounds: [4, 64], from: 20}
"""


@pytest.mark.slow
def test_the_delay_margin_is_of_all_branches_also_of_those_that_are_alike_without_a_delay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(POOL, encoding="utf-8")
    (group,) = analyzed(capsys, str(file), "--no-retune")["groups"]
    (point,) = group["operating_points"]
    late = point["margins"][0]["delay_in_the_landing"]
    # members start 5 s after the command, and what lands at the instant of a reading is seen by it
    assert late["stable_seconds"] <= 10.0 < late["unstable_seconds"] < 10.001
    read = point["margins"][0]["delay_in_the_reading"]
    assert read["stable_seconds"] <= 5.0 < read["unstable_seconds"] < 5.001  # scrapes of 5 s are one scrape late
    file.write_text(POOL.replace("period: 15 s", "period: 15 s, lands: 15 s"), encoding="utf-8")
    (group,) = analyzed(capsys, str(file), "--no-retune")["groups"]
    assert (group["exact"]["verdict"], group["exact"]["period_seconds"]) == ("oscillates", 90.0)


def test_strict_exits_4_where_a_group_is_undecided(tmp_path: Path) -> None:
    file = tmp_path / "design.yaml"
    file.write_text(GROWING, encoding="utf-8")
    assert run(["analyze", str(file), "--no-retune"]) == 0
    assert run(["analyze", str(file), "--no-retune", "--strict"]) == 4


GROWING = """\
coherence: 1
components: {cache: {ok: "min(1, 150 / (800 * (1 - cache.hit)))"}}
loops:
  fill:
    timescale: {period: 1 s}
    rules: [{when: cache.hit >= 0, to: "cache.hit + 0.1 * (cache.ok - cache.hit)"}]
    actuation: {signal: cache.hit, bounds: [0, 0.99], from: 0.5}
"""
