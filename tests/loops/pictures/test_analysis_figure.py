"""Figures of whole analyses: which panels there are, what they are called, and what is not drawn."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import DesignAnalysis
from coherence.loops.analysis.network_analysis import analysed
from coherence.loops.networks.network import Block, Coupling, Network, network
from coherence.loops.pictures.analysis_figure import KINDS, _drawn, of_design, of_network, system_name
from coherence.model.elaborate import elaborate
from coherence.reporting.pictures.figure import Line, Panel
from tests.loops.designs.test_bridged_laps import LAG


def queue(gain: float, rate: float | None = None) -> Network:
    block = Block("queue", (gain,), (1.0, 0.0), 10.0, rate=rate)
    return network([block], [Coupling("queue", "queue", -1)])


def titles(net: Network) -> list[str]:
    return [panel.title for panel in of_network("net", analysed(net)).panels]


@pytest.mark.slow
def test_a_stable_network_has_every_panel() -> None:
    assert titles(queue(0.05)) == [
        "sensitivity", "Bode: gain of L", "Bode: phase of L", "Nyquist: L", "step: answer of T to a step of 1",
        "all roots to a decay of 0.318/s", "root locus: gain of queue", "gain and delay of queue",
    ]  # fmt: skip


def test_the_peak_of_the_sensitivity_is_drawn() -> None:
    (panel,) = of_network("net", analysed(queue(0.05)), kinds=["sensitivity"]).panels
    assert max(y for _, y in panel.lines[0].points) == pytest.approx(1.59, abs=0.005)  # Ms of k T = 0.5 (SIMC)


@pytest.mark.slow
def test_an_unstable_network_has_neither_sensitivity_nor_step() -> None:
    drawn = titles(queue(0.5))
    assert not [title for title in drawn if title.startswith(("sensitivity", "step"))]
    (roots,) = of_network("net", analysed(queue(0.5)), kinds=["roots"]).panels
    assert next((dots.name, dots.mark) for dots in roots.dots) == ("unstable root", "x")


@pytest.mark.parametrize(("gain", "mark"), [(0.05, "o"), (0.5, "x")])
def test_a_sampled_network_has_its_multipliers(gain: float, mark: str) -> None:
    figure = of_network("net", analysed(queue(gain, 15.0)), kinds=["roots"])
    assert [panel.title for panel in figure.panels] == ["multipliers of one lap"]
    assert figure.panels[0].dots[0].mark == mark
    assert figure.notes == ("shaded: unstable",)


def test_a_design_is_drawn_with_its_linear_loop() -> None:
    from coherence.loops.analysis.design_analysis import analysed as of

    model = elaborate(read_text(LAG))
    figure = of_design("thermostat", of(model), model, kinds=["nyquist", "roots", "locus"])
    assert [panel.title for panel in figure.panels] == ["Nyquist: L", "roots: ctl", "root locus: gain of ctl"]
    assert figure.title == "Loops of thermostat"


KINK = """
coherence: 1
components: {a: {state: "x' = max(-0.5 * delayed(a.x, 1 s), -2 * delayed(a.x, 1 s)) / 1 s", from: 0.5}}
"""


@pytest.mark.slow
def test_flows_on_a_kink_are_drawn_on_each_side_and_only_the_stable_one_answers_a_step() -> None:
    """A loop opened on one side of a kink has a name of its own, behind the block of its state."""
    from coherence.loops.analysis.design_analysis import analysed as of

    model = elaborate(read_text(KINK))
    figure = of_design("kink", of(model), model, kinds=["bode", "step", "roots", "map"])
    (step,) = (panel for panel in figure.panels if panel.title.startswith("step"))
    assert [line.name for line in step.lines] == ["a.x, branch 1"]
    assert [panel.title for panel in figure.panels if panel.title.startswith(("all roots", "gain and delay"))] == [
        "all roots to a decay of 3.18/s: a.x, branch 1", "all roots to a decay of 0.691/s: a.x, branch 2",
        "gain and delay of a.x, branch 1", "gain and delay of a.x, branch 2",
    ]  # fmt: skip
    assert {"no step: a.x, branch 2 not proved stable", "gain and delay: stable where it is blue"} < {*figure.notes}
    assert "pale bands: what L cannot leave between the points that are drawn, by proof" in figure.notes


def test_nothing_in_feedback_is_one_empty_panel() -> None:
    figure = of_design("x", DesignAnalysis((), (("cron", "reads no signal"),), ()))
    assert [panel.title for panel in figure.panels] == ["no loops in feedback"]


@pytest.mark.parametrize(
    ("path", "name"),
    [("specs/hpa-metric-lag", "hpa-metric-lag"), ("specs/hpa-metric-lag/design.yaml", "hpa-metric-lag"),
     ("/some/where/net.yaml", "net")],
)  # fmt: skip
def test_a_title_names_the_system_and_no_path(path: str, name: str) -> None:
    assert system_name(path) == name


def test_the_command_offers_every_kind() -> None:
    from coherence.cli import _picture

    assert _picture.KINDS == KINDS


TEN = "coherence: 1\ncomponents:\n" + "".join(
    f"  p{k}: {{ready: 'delayed(p{k}.size, {20 + 4 * k} s)', load: {3 + k} / ready}}\n" for k in range(10)
) + "loops:\n" + "".join(
    f"  s{k}: {{timescale: {{period: {10 + 3 * k} s}}, target: {{signal: p{k}.load, setpoint: 0.6, "
    "type: utilization}, "
    f"actuation: {{signal: p{k}.size, law: proportional, bounds: [1, 90], from: {4 + k}}}}}\n" for k in range(10)
)  # fmt: skip


@pytest.mark.slow
def test_ten_loops_are_ten_curves() -> None:
    model = elaborate(read_text(TEN))
    from coherence.loops.analysis.design_analysis import analysed as of

    figure = of_design("ten", of(model), model, kinds=["run", "sensitivity", "locus"])
    assert [panel.title for panel in figure.panels[:10]] == [f"exact run: s{k}" for k in range(10)]
    (sensitivity,) = (panel for panel in figure.panels if panel.title == "sensitivity: 10 loops")
    assert [line.name for line in sensitivity.lines] == [f"s{k}" for k in range(10)]
    assert len({line.style for line in sensitivity.lines}) == 10
    assert [panel.title for panel in figure.panels[11:]] == [f"root locus: gain of s{k}" for k in range(3)]
    assert all(any(line.points for line in panel.lines) for panel in figure.panels[:11])
    assert all(any(dots.points for dots in panel.dots) for panel in figure.panels[11:])
    assert "root loci of the first 3 of 10 loops" in figure.notes


def test_a_panel_without_a_curve_is_named() -> None:
    notes: list[str] = []
    curve = Panel("step", "time, s", "answer", (Line("a", ((0.0, 1.0), (1.0, 0.0))),))
    empty = Panel("root locus", "real part", "imaginary part")
    drawn = _drawn({"step": lambda: [curve], "locus": lambda: [empty]}, ("step", "locus"), 60.0, notes)
    assert drawn == (curve,)
    assert notes == ["nothing to draw: root locus"]


@pytest.mark.slow
def test_loci_that_are_not_drawn_are_not_spoken_of() -> None:
    net = network([Block(f"s{k}", (0.05,), (1.0, 0.0), 10.0) for k in range(5)],
                  [Coupling(f"s{k}", f"s{k}", -1) for k in range(5)])  # fmt: skip
    figure = of_network("net", analysed(net), kinds=["sensitivity"])
    assert not [note for note in figure.notes if "root loci" in note]
