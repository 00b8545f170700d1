"""A tier that says what runs on it has its floors without a hand: the job, its collectives, its pipeline, its work."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

from bench._minimums_published import MEGATRON as MODELS
from coherence.base.errors import InputError
from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.minimums.design_floors import DesignFloor, design_floors
from coherence.minimums.floors import at
from coherence.minimums.registry import entry

RUN = """coherence: 1
infrastructure:
  tiers:
    h100: {{uses: h100_sxm, count: 16384{constants}}}
"""
LLAMA = (
    ", message_size: 8 GB, operations: 3.8e25, checkpoint_time: 10 s .. 30 s, restart_time: 1 min .. 5 min, "
    "device_mtbf: 2111 d, stages: 16, micro_batches: 16"
)


def floors(constants: str) -> Mapping[str, DesignFloor]:
    return {one.bound.name: one for one in design_floors(read_text(RUN.format(constants=constants)))}


def test_a_published_run_has_its_floors_from_its_design_alone() -> None:
    """Llama 3 405B: 419 failures in 54 days on 16,384 devices, and the range that two unpublished times leave."""
    found = floors(LLAMA)
    assert {name for name, one in found.items() if one.floor is None} == set()
    lost, work = found["checkpoint_overhead"].floor, found["compute_time"].floor
    assert lost is not None
    assert work is not None
    assert (float(lost.low), float(lost.high)) == pytest.approx((0.047, 0.096), abs=5e-4)
    assert float(work.low) == pytest.approx(27.14 * 86400, rel=1e-3)
    assert found["job_failure_time"].floor.low == Fraction(2111 * 86400, 16384)  # type: ignore[union-attr]
    assert found["pipeline_bubble_share"].floor.low == Fraction(15, 31)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "size"), [("all_reduce_end_point", 8), ("reduce_scatter", 8), ("all_gather", 8 * 16384)]
)
def test_collectives_take_the_message_size_of_the_tier(name: str, size: int) -> None:
    """An all-gather counts the bytes of all devices together."""
    floor = floors(LLAMA)[name].floor
    assert floor is not None
    inputs = {"n": Fraction(16384), "size": Fraction(size * 10**9), "bandwidth": Fraction(450 * 10**9)}
    assert floor.low == floor.high == at(entry(name).bound, inputs)


@pytest.mark.parametrize("count", ["1", "1 .. 8", "0 .. 8"])
def test_a_collective_of_what_may_be_one_device_says_why_it_has_no_number(count: str) -> None:
    design = read_text(RUN.format(constants=", message_size: 8 GB").replace("16384", count))
    silent = {one.bound.name: one.why for one in design_floors(design) if one.floor is None}
    assert {"all_reduce_end_point", "reduce_scatter", "all_gather"} <= set(silent)
    assert "a count of h100 of at least 2: one device alone has nothing to exchange" in silent["all_gather"]


def test_a_collective_whose_size_is_no_number_is_an_error() -> None:
    with pytest.raises(InputError, match="message_size of h100 is '8 GB \\* x', which no constants give a value"):
        floors(", message_size: 8 GB * x")


def test_a_tier_that_says_nothing_of_its_work_is_asked_for_its_operations_alone() -> None:
    found = floors("")
    assert set(found) == {"all_gather_fabric", "compute_time"}
    assert "operations of tier h100" in found["compute_time"].why


def test_what_is_stated_by_half_names_the_other_half() -> None:
    found = floors(", checkpoint_time: 30 s, stages: 8")
    assert "restart_time of tier h100" in found["checkpoint_overhead"].why
    assert "device_mtbf of tier h100" in found["checkpoint_interval_exact"].why
    assert "micro_batches of tier h100" in found["pipeline_bubble_share"].why


def test_the_peak_is_that_of_the_stated_precision() -> None:
    found = floors(", operations: 1e20, precision: int8")
    assert "dense_int8 of tier h100" in found["compute_time"].why
    faster = floors(", operations: 1e20, precision: fp8")["compute_time"].floor
    slower = floors(", operations: 1e20, precision: bf16")["compute_time"].floor
    assert faster is not None
    assert slower is not None
    assert faster.low * 1979 == slower.low * 989


MEGATRON = """coherence: 1
infrastructure:
  tiers:
    a100: {{uses: a100_sxm_80, count: {units}, operations: {operations}, stages: {stages}, micro_batches: {batches}}}
"""
INNOCENT = ("full_duplex", "no_latency", "fluid", "peak_rates", "stated_precision", "balanced", "flush")


def measured(capsys: pytest.CaptureFixture[str], folder: Path, design: str, *measurements: str) -> str:
    file = folder / "design.yaml"
    file.write_text(design)
    assert run(["bound", str(file), *(word for one in measurements for word in ("--measured", one))]) == 0
    return capsys.readouterr().out


@pytest.mark.slow
def test_three_published_runs_are_split_from_their_designs_and_accuse_nothing_innocent(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Llama 3 405B (54 days, more than 90 % effective), Megatron-LM 1T, and NCCL at 480 GB/s of bus bandwidth."""
    shown = measured(
        capsys, tmp_path, RUN.format(constants=LLAMA), "h100.checkpoint_overhead=10 %", "h100.compute_time=54 d"
    )
    assert "46.9% .. 96.3% of the measured" in shown
    assert "50.3% of the measured" in shown
    assert "violated" not in shown
    batch, layers, width, stages, _, units = MODELS["1T"][0]
    shape = {"batch": batch, "sequence": 2048, "layers": layers, "width": width}
    operations = at(entry("transformer_operations").bound, shape)
    design = MEGATRON.format(units=units, operations=float(operations), stages=stages, batches=batch)
    shown = measured(capsys, tmp_path, design, *(f"a100.compute_time={MODELS['1T'][1][1]} s",))
    assert "56.2% of the measured" in shown
    assert "violated" not in shown
    nccl = RUN.format(constants=", message_size: 8 GB").replace("16384", "8")
    accused = measured(capsys, tmp_path, nccl, "h100.all_reduce_end_point=29.1667 ms").partition("violated")[2]
    assert "end_point_reduction: a bus bandwidth above the link's" in accused
    assert [name for name in INNOCENT if name in accused] == []


@pytest.mark.slow
def test_three_more_published_runs_are_split_by_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """DeepSeek-V3 (2.664 million hours of 2,048 devices for 14.8e12 tokens of 37e9 weights), 3,072 devices at 163
    TFLOP/s (Narayanan et al. 2021: 102.6 s a step with recomputation), and eight boxes of eight at 360 GB/s.
    """
    for precision, share in (("", 34.6), (", precision: fp8", 17.3)):
        tokens = RUN.format(constants=f", operations: 3.286e24{precision}").replace("16384", "2048")
        shown = measured(capsys, tmp_path, tokens, "h100.compute_time=54.2 d")
        assert f"{share}% of the measured" in shown
        assert "violated" not in shown
    step = MEGATRON.format(units=3072, operations=3.851e19, stages=64, batches=512)
    shown = measured(capsys, tmp_path, step, "a100.compute_time=102.6 s")
    assert "39.2% of the measured" in shown
    assert "violated" not in shown
    boxes = RUN.format(constants=", message_size: 8 GB").replace("16384", "64")
    shown = measured(
        capsys, tmp_path, boxes, "h100.all_reduce_end_point=43.75 ms", "h100.all_reduce_end_point.bandwidth=50 GB/s"
    )
    accused = shown.partition("violated")[2]
    assert "one_attachment: network ports of its own beside that link" in accused
    assert "not end_point_reduction alone: without it the floor is still 160 ms" in accused
    assert [name for name in INNOCENT if name in accused] == []


PODS = """coherence: 1
components: {{spine: {{copies: 1}}}}
infrastructure:
  tiers:
    left: {{count: {count}, link_bandwidth: 50 GB/s, message_size: 4 GB}}
    right: {{count: {count}, link_bandwidth: 50 GB/s, message_size: 4 GB}}
  links:
    - {{ends: [left, spine], bandwidth: {uplink} GB/s}}
    - {{ends: [right, spine], bandwidth: {uplink} GB/s}}
"""


@pytest.mark.parametrize(
    ("count", "uplink", "seconds"),
    [
        (8, 100, Fraction(2 * 15 * 4, 16 * 50)),  # each device is told 15 of 16 parts, twice
        (8, 10, Fraction(2 * 4, 2 * 10)),  # the two pods are blocks behind one uplink each
        (40, 10, Fraction(2 * 4, 2 * 10)),  # too many to count each: the devices of a tier are one block
    ],
)
def test_an_all_reduce_over_links_is_that_of_its_blocks(count: int, uplink: int, seconds: Fraction) -> None:
    design = read_text(PODS.format(count=count, uplink=uplink))
    (found,) = [one for one in design_floors(design) if one.bound.name == "all_reduce_fabric"]
    assert found.floor is not None
    assert found.floor.low == seconds
    labels = [place.label for place in found.application.places]
    assert any(("into a block" in label) for label in labels)
