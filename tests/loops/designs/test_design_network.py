"""What stands in the network of a design, by name."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import UsageError
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.loops.designs.design_network import OwnShare, network_of
from coherence.loops.designs.linear import skeleton
from coherence.loops.designs.signal_gradients import OwnCommand
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
    assert design.laws == {
        "heater.power": OwnShare("ctl", Fraction(1), landed=False, carried=OwnCommand(Fraction(1), Fraction(0)))
    }


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


def test_a_sensor_that_reads_another_one_decides_after_it() -> None:
    text = """
coherence: 1
components: {pool: {usage: 100 / pool.replicas}}
loops:
  hpa:
    timescale: {period: 15 s}
    target: {signal: pool.usage, setpoint: 1, sensor: [scrape 15 s, relist 60 s]}
    actuation: {signal: pool.replicas, law: proportional, bounds: [1, 1000.5], from: 100}
"""
    model, _ = skeleton(elaborate(read_text(text, "design.yaml")))
    ranks = {sampler.name: sampler.rank for sampler in network_of(model, {"pool.replicas": Fraction(100)}).samplers}
    assert list(ranks) == ["pool.replicas", "scrape 2", "scrape 1"]
    assert ranks["scrape 2"] < ranks["scrape 1"] < ranks["pool.replicas"]


def test_two_loops_that_write_one_command_share_its_output() -> None:
    text = TEXT + TEXT[TEXT.index("  ctl:") :].replace("ctl", "other").lstrip("\n")
    model, _ = skeleton(elaborate(read_text(text, "design.yaml")))
    design = network_of(model, POINT)
    assert [(s.name, s.writes) for s in design.samplers] == [
        ("heater.power", ""),
        ("heater.power by other", "heater.power"),
    ]
    assert {name: law.loop for name, law in design.laws.items()} == {
        "heater.power": "ctl",
        "heater.power by other": "other",
    }


def test_two_loops_whose_commands_overtake_each_other_are_refused_by_name() -> None:
    text = TEXT + TEXT[TEXT.index("  ctl:") :].replace("ctl", "other").replace("lands: 5 s", "lands: 9 s").lstrip("\n")
    model, _ = skeleton(elaborate(read_text(text, "design.yaml")))
    with pytest.raises(UsageError, match="overtake each other"):
        _ = network_of(model, POINT).sampled
