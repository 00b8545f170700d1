"""`coherence sweep`: keys, ranges, maps, and sweeps that go on where they stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.exploring.swept_numbers import axes

DESIGN = """\
coherence: 1
components: {web: {load: 100, lag: 15 s, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s, hold_down: 0 s}
    target: {signal: "delayed(web.usage, web.lag)", setpoint: 50 %, tolerance: 10 %}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
"""


@pytest.fixture
def design(tmp_path: Path) -> Path:
    file = tmp_path / "design.yaml"
    file.write_text(DESIGN, encoding="utf-8")
    return file


def swept(capsys: pytest.CaptureFixture[str], *words: str) -> dict[tuple[str, ...], str]:
    assert run(["sweep", *words, "--time-limit", "300", "-o", "json"]) == 0
    return {tuple(p["values"]): p["verdict"] for p in json.loads(capsys.readouterr().out)["points"]}


@pytest.mark.slow
def test_the_map_over_delay_and_hold_down(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = swept(
        capsys, str(design), "-p", "components.web.lag=0:30:3", "-p", "loops.hpa.timescale.hold_down=0:60:3"
    )
    assert verdicts["0 s", "0 s"] == "settles"  # dead-beat
    assert verdicts["15 s", "0 s"] == verdicts["30 s", "0 s"] == "oscillates"
    assert verdicts["15 s", "60 s"] == "conflict"  # it rests, and has gone too far before it saw its own action
    assert len(verdicts) == 9
    assert swept(
        capsys, str(design), "-p", "components.web.lag=15:30:2", "-s", "COH301", "-p",
        "loops.hpa.timescale.hold_down=30:60:2",
    )["15 s", "60 s"] == "settles"  # fmt: skip


@pytest.mark.slow
def test_a_sweep_that_stopped_goes_on(
    design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "points.jsonl"
    words = [str(design), "-p", "components.web.lag=0:30:3", "--into", str(file)]
    whole = swept(capsys, *words)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    assert len(lines) == 4
    file.write_text("".join(lines[:2]) + lines[2][:20], encoding="utf-8")  # stopped while it wrote
    computed: list[object] = []
    from coherence.exploring import sweeps

    plain = sweeps.judged

    def counted(*words: Any) -> sweeps.Cell:
        computed.append(words)
        return plain(*words)

    monkeypatch.setattr(sweeps, "judged", counted)
    assert swept(capsys, *words) == whole
    assert len(computed) == 2
    assert sorted(file.read_text(encoding="utf-8").splitlines()) == sorted(line.strip() for line in lines)
    assert swept(capsys, *words) == whole
    assert len(computed) == 2


@pytest.mark.slow
def test_a_file_of_another_sweep_is_refused(design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "points.jsonl"
    assert run(["sweep", str(design), "-p", "components.web.lag=0:30:2", "--into", str(file)]) == 0
    design.write_text(DESIGN.replace("100", "101"), encoding="utf-8")
    assert run(["sweep", str(design), "-p", "components.web.lag=0:30:2", "--into", str(file)]) == 2
    assert "another sweep" in capsys.readouterr().err


@pytest.mark.slow
def test_the_text_and_the_picture(design: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "map.svg"
    words = ["-p", "components.web.lag=15:60:log:3", "-p", "loops.hpa.timescale.hold_down=0:30:2"]
    assert run(["sweep", str(design), *words, "--time-limit", "300", "--picture", str(picture)]) == 0
    text = capsys.readouterr().out
    assert "   0 s | x x x" in text
    assert "! conflict 1" in text
    assert "COH304 of hpa" in text
    assert "components.web.lag, s" in picture.read_text(encoding="utf-8")


def test_a_value_that_makes_no_design_is_refused_and_told(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = swept(capsys, str(design), "-p", "loops.hpa.timescale.period=0:15:2")
    assert found == {("0 s",): "refused", ("15 s",): "oscillates"}


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("loops.hpa.timescale.perod=1:2", "did you mean 'loops.hpa.timescale.period'"),
        ("loops.hpa.timescale.period", "KEY=A:B"),
        ("loops.hpa.timescale.period=1", "KEY=A:B"),
        ("loops.hpa.timescale.period=a:2", "not a number"),
        ("loops.hpa.timescale.period=2:2", "the same"),
        ("loops.hpa.timescale.period=0:2:log", "above 0"),
        ("loops.hpa.timescale.period=1:2:1", "number of points"),
        ("loops.hpa.timescale.period=1 kW:2 kW", "another unit"),
        ("loops.hpa.timescale.period=1:2:999999", "more than"),
    ],
)
def test_what_cannot_be_swept_is_told(word: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        axes([word], {"design.yaml": DESIGN})


def test_ends_may_have_another_unit_of_the_same_kind() -> None:
    (axis,) = axes(["components.web.lag=500 ms:1 min:3"], {"design.yaml": DESIGN})
    assert [axis.edit(number).new for number in axis.values] == ["0.5 s", "30.25 s", "60 s"]


def test_more_than_two_keys_are_a_usage_error(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["components.web.lag=0:30", "loops.hpa.timescale.period=1:2", "loops.hpa.timescale.hold_down=0:1"]
    assert run(["sweep", str(design), *(word for key in keys for word in ("-p", key))]) == 2
    assert "one or two" in capsys.readouterr().err


@pytest.mark.slow
def test_the_growth_of_a_point_is_that_of_its_worst_branch(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = DESIGN.replace("usage: load / desired", 'ready: "min(desired, delayed(desired, 60 s))", usage: load / ready')
    design.write_text(text, encoding="utf-8")
    assert run(["sweep", str(design), "-p", "components.web.lag=0:15:2", "-o", "json"]) == 0
    growths = [point["growth"] for point in json.loads(capsys.readouterr().out)["points"]]
    assert all(growth > 1.1 for growth in growths)


def test_an_end_beyond_every_float_is_refused_with_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    design = tmp_path / "design.yaml"
    design.write_text("coherence: 1\ncomponents: {web: {load: 100}}\n", encoding="utf-8")
    assert run(["sweep", str(design), "-p", "components.web.load=1:1e400:3"]) == 2
    assert "give a smaller end" in capsys.readouterr().err
