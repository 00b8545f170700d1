"""A network file: what is read, what is refused at its place, and what is rendered of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.loops.analysis.network_analysis import NetworkAnalysis, analysed, judged, undecided
from coherence.loops.analysis.network_reading import read_network
from coherence.loops.analysis.render_network import as_json, text
from coherence.loops.networks.network import Block, Coupling, loop, network

CHAIN = """network: 1
blocks:
  queue: {numerator: [1], denominator: [1, 0], delay: 10 s}
  scaler: {numerator: [%s], denominator: [1]%s}
couplings:
  - {from: queue, to: scaler}
  - {from: scaler, to: queue, gain: -1}
"""


def write(tmp_path: Path, words: str) -> Path:
    file = tmp_path / "net.yaml"
    file.write_text(words, encoding="utf-8")
    return file


def analysis_of(tmp_path: Path, gain: str, more: str = "") -> NetworkAnalysis:
    return analysed(read_network(write(tmp_path, CHAIN % (gain, more))))


def test_a_file_becomes_its_network(tmp_path: Path) -> None:
    net = read_network(write(tmp_path, CHAIN % ("0.05", ", rate: 15 s")))
    assert net.blocks == (Block("queue", (1.0,), (1.0, 0.0), 10.0), Block("scaler", (0.05,), (1.0,), 0.0, 15.0))
    assert net.couplings == (Coupling("queue", "scaler", 1.0), Coupling("scaler", "queue", -1.0))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("[]", "this is no network of blocks"),
        ("network: 2\nblocks: {a: {numerator: [1], denominator: [1]}}", "the version of this file is 1"),
        ("network: 1\nblocks: {}", "no mapping of names to blocks"),
        ("network: 1\nblocks: {a: 3}", "a is no block"),
        ("network: 1\nblocks: {a: {denominator: [1]}}", "numerator is missing"),
        ("network: 1\nblocks: {a: {numerator: [1], denominator: [0]}}", "a denominator is not zero"),
        ("network: 1\nblocks: {a: {numerator: [1], denominator: [1], delay: -1 s}}", "a delay is >= 0"),
        ("network: 1\nblocks: {a: {numerator: [1], denominator: [1], rate: 0 s}}", "a sampling period is > 0"),
        ("network: 1\nblocks: {a: {numerator: [1], denominator: [1], lag: 3}}", "unknown key 'lag'"),
        ("network: 1\nblocks: {a: {numerator: [1], denominator: [1]}}\ncouplings: 3", "couplings is no list"),
    ],
)
def test_what_is_wrong_is_refused_at_its_place(words: str, message: str, tmp_path: Path) -> None:
    file = write(tmp_path, words)
    with pytest.raises(InputError, match=message) as error:
        read_network(file)
    assert f"{file}:" in str(error.value)


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        read_network(tmp_path / "absent.yaml")


@pytest.mark.slow
def test_a_stable_network_has_margins_and_no_blame(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, "0.05")
    assert (analysis.verdict, analysis.blame) == ("stable", None)
    assert [margin.point for margin in analysis.margins] == ["queue", "scaler"]
    assert analysis.margins[0].upper_gain == pytest.approx(math.pi, rel=1e-9)
    rendered = text("net.yaml", analysis)
    assert rendered.startswith("net.yaml: 2 blocks, 2 couplings\n\nstable")
    assert "0 to 3.14159" in rendered
    data = as_json("net.yaml", analysis)
    assert data["margins"][0]["delay_seconds"] == pytest.approx(10 * math.pi - 10, rel=1e-9)
    json.dumps(data, allow_nan=False)


def test_an_unstable_network_has_blame_and_no_margins(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, "0.5")
    assert (analysis.verdict, analysis.margins) == ("unstable", ())
    assert "  to blame              queue and scaler (not shown to be minimal)" in text("net.yaml", analysis)
    assert as_json("net.yaml", analysis)["to_blame"] == [{"blocks": ["queue", "scaler"], "minimal": False}]


def test_a_sampled_network_has_safe_factors_and_multipliers(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, "0.05", ", rate: 15 s")
    assert (analysis.verdict, analysis.delayed) == ("stable", None)
    assert [name for name, _, _ in analysis.factors] == ["queue"]
    opened = [(loop.gain_low, loop.gain_high) for loop in analysis.opened]
    assert [loop.loop for loop in analysis.opened] == ["scaler"]
    for low, high in [
        *opened,
        *((low, high) for _, low, high in analysis.factors),
    ]:  # a gain that only falls is always stable; one that rises is not
        assert high is not None
        assert (low, math.isinf(high)) == (0.0, False)
        assert (
            judged(read_network(write(tmp_path, CHAIN % (str(0.05 * high * 0.99), ", rate: 15 s")))).verdict == "stable"
        )
        assert (
            judged(read_network(write(tmp_path, CHAIN % (str(0.05 * high * 1.01), ", rate: 15 s")))).verdict != "stable"
        )
    data = as_json("net.yaml", analysis)
    assert data["rightmost"] == []
    assert data["multipliers"]
    assert "growth per lap" in text("net.yaml", analysis)


@pytest.mark.slow
def test_the_gain_of_an_unstable_block_may_fall_only_so_far() -> None:
    """x' = x / 100 s - g u, held for 10 s and fed back: stable from g = 1 / 100 on (a gain of 2 is twice that)."""
    plant = Block("plant", (2.0,), (100.0, -1.0), 0.0)
    hold = Block("hold", (1.0,), (1.0,), 0.0, rate=10.0)
    net = network([plant, hold], [Coupling("plant", "hold", 1), Coupling("hold", "plant", -1)])
    analysis = analysed(net)
    ((_, low, high),), (opened,) = analysis.factors, analysis.opened
    assert low == pytest.approx(0.5, rel=1e-6)
    assert (opened.gain_low, opened.gain_high) == pytest.approx((low, high))


def test_no_verdict_carries_its_reason() -> None:
    analysis = undecided(loop([1.0], [1.0, 1.0]), "the time limit was reached")
    assert (analysis.verdict, analysis.reason) == ("undecided", "the time limit was reached")
    assert "undecided: the time limit was reached" in text("net.yaml", analysis)


@pytest.mark.slow
def test_the_verdict_alone_is_the_same_and_is_taken_over() -> None:
    net = loop([0.5], [1.0, 0.0], 1.0)
    before = judged(net)
    assert (before.verdict, before.margins) == ("stable", ())
    assert analysed(net, before).margins == analysed(net).margins


@pytest.mark.slow
def test_a_root_that_is_not_shown_to_be_the_rightmost_and_a_search_that_was_cut_are_told(tmp_path: Path) -> None:
    analysis = analysis_of(tmp_path, "0.05")
    assert analysis.delayed is not None
    unconfirmed = replace(analysis, delayed=replace(analysis.delayed, confirmed=False))
    assert "; others may lie further right" in text("n.yaml", unconfirmed)
    assert "; others may lie further right" not in text("n.yaml", analysis)
    assert as_json("n.yaml", unconfirmed)["rightmost_confirmed"] is False
    endless = replace(analysis.margins[0], phase=math.inf, delay=math.inf)
    assert "  any" in text("n.yaml", replace(analysis, margins=(endless,)))
    cut = replace(endless, gap="the search for crossings met its work limit")
    assert "  any" not in text("n.yaml", replace(analysis, margins=(cut,)))


@pytest.mark.slow
def test_a_search_of_margins_that_was_cut_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coherence.loops.margins.crossings.INTERVALS", 3)
    notes = analysis_of(tmp_path, "0.05").notes
    assert "margins at queue: the search for crossings met its work limit: some may be missing" in notes


def test_that_nobody_is_looked_for_in_a_large_unstable_network_is_noted() -> None:
    blocks = tuple(Block(f"b{k}", (2.0,), (1.0, 1.0), 0.1) for k in range(41))
    ring = tuple(Coupling(f"b{k}", f"b{(k + 1) % 41}", 1.0) for k in range(41))
    analysis = analysed(network(blocks, ring))
    assert (analysis.verdict, analysis.blame) == ("unstable", None)
    assert analysis.notes == ("which of 41 blocks are to blame is not looked for above 40",)
