"""What stands in the network of a design, by name."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.designs.design_network import OwnShare, network_of
from coherence.loops.designs.linear import skeleton
from coherence.loops.networks.network import Block, Coupling
from coherence.model.elaborate import elaborate

TEXT = """
coherence: 1
components:
  room: {state: "temp' = (10 - room.temp + 2 * heater.power) / 300 s", from: 12}
loops:
  ctl:
    timescale: {period: 60 s, phase: 7 s, lands: 5 s}
    trigger: always
    actuation: {signal: heater.power, law: step, by: "3 * (20 - delayed(room.temp, 60 s))", bounds: [0, 100], from: 5}
"""
POINT = {"room.temp": Fraction(20), "heater.power": Fraction(5)}


def test_a_lag_its_delay_and_its_loop_are_blocks_and_a_sampler() -> None:
    model, _ = skeleton(elaborate(read_text(TEXT, "design.yaml")))
    design = network_of(model, POINT)
    assert design.blocks == (
        Block("room.temp", (1.0,), (1.0, 1 / 300)),
        Block("delay 1", (1.0,), (1.0,), 60),
    )
    assert set(design.couplings) == {
        Coupling("heater.power", "room.temp", Fraction(1, 150)),
        Coupling("room.temp", "delay 1"),
        Coupling("delay 1", "heater.power", Fraction(-3)),
    }
    (sampler,) = design.samplers
    assert (sampler.name, sampler.period, sampler.phase, sampler.lands) == ("heater.power", 60, 7, 5)
    assert design.laws == {"heater.power": OwnShare("ctl", Fraction(1), landed=False)}


def test_the_continuous_part_has_floats_and_no_samplers() -> None:
    model, _ = skeleton(elaborate(read_text(TEXT, "design.yaml")))
    network = network_of(model, POINT).continuous(["room.temp"])
    assert network.names == ("room.temp", "delay 1")
    assert network.couplings == (Coupling("room.temp", "delay 1"),)
    assert all(type(block.delay) is float for block in network.blocks)


def test_a_mean_inside_a_flow_is_refused_by_name() -> None:
    text = TEXT.replace("10 - room.temp", "10 - mean_over(room.temp, 30 s)")
    model, _ = skeleton(elaborate(read_text(text, "design.yaml")))
    with pytest.raises(NotExactError, match="a mean over 30 s inside a flow"):
        network_of(model, POINT)


def test_two_loops_that_write_one_command_are_refused_by_name() -> None:
    text = TEXT + TEXT[TEXT.index("  ctl:") :].replace("ctl", "other").lstrip("\n")
    model, _ = skeleton(elaborate(read_text(text, "design.yaml")))
    with pytest.raises(NotExactError, match="ctl and other write heater"):
        network_of(model, POINT)
