"""Fabrics as text: shapes, links, files and designs are the fabrics that Python makes; what is wrong is named."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.cli._run import run
from coherence.minimums.fabric.wiring import Fabric, Wire, both, dgx1, fabric, leaf_spine, ring, torus
from coherence.minimums.fabric.written_fabrics import written_demands, written_fabric
from tests.minimums.test_cases_fabric import cases

GB = 10**9
ONE_WAY = Wire("b", "a", Fraction(1), latency=Fraction(1))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("dgx1", dgx1()),
        ("dgx1:25GB/s", dgx1(25 * GB)),
        ("ring:5", ring(5)),
        ("torus:2x3:1GB/s", torus((2, 3), GB)),
        ("leaf_spine:2x3x4:50GB/s:100 GB/s", leaf_spine(2, 3, 4, 50 * GB, 100 * GB)),
        ("a>b:2GB/s,b>c", fabric("abc", [*both("a", "b", 2 * GB), *both("b", "c", 1)])),
        ("a>>b:3B/s,b>>a:1B/s", fabric("ab", [Wire("a", "b", Fraction(3)), Wire("b", "a", Fraction(1))])),
        (
            "a>b:2B/s:3us,b>>a:1B/s:1s",
            fabric("ab", [*both("a", "b", 2, latency=Fraction(3, 10**6)), ONE_WAY]),
        ),
        ("a>s*:8Gbit/s,b>s*", fabric("ab", [*both("a", "s*", GB), *both("b", "s*", 1)])),
    ],
)
def test_a_text_is_the_fabric_that_python_makes(text: str, meant: Fabric) -> None:
    assert written_fabric(text) == meant


def test_a_shape_has_the_latency_of_each_of_its_links() -> None:
    late = written_fabric("ring:3:2B/s:1 us")
    assert {wire.latency for wire in late.wires} == {Fraction(1, 10**6)}
    assert replace(late, wires=tuple(replace(wire, latency=Fraction(0)) for wire in late.wires)) == ring(3, 2)


def test_a_switch_that_adds_is_marked() -> None:
    made = written_fabric("a>t+,b>t+")
    assert made.names == ("a", "b")
    assert made.adding == {"t+"}


def test_a_file_has_a_link_in_each_line_or_is_a_design(tmp_path: Path) -> None:
    lines, design = tmp_path / "links.txt", tmp_path / "pods.yaml"
    lines.write_text("a>b:2GB/s\n\nb>c:1GB/s\n")
    assert written_fabric(f"@{lines}") == written_fabric("a>b:2GB/s,b>c:1GB/s")
    design.write_text(
        "coherence: 1\ncomponents: {spine: {copies: 1, adds: 1}}\ninfrastructure:\n  tiers:\n"
        "    left: {count: 2, link_bandwidth: 5 GB/s}\n    right: {count: 1, link_bandwidth: 5 GB/s}\n"
        "  links: [{ends: [left, spine], bandwidth: 3 GB/s}, {ends: [spine, right], bandwidth: 3 GB/s}]\n"
    )
    made = written_fabric(f"@{design}")
    assert len(made.names) == 3
    assert made.adding == {"spine"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rnig:5", "did you mean 'ring'"),
        ("ring", "write ring:8"),
        ("ring:0", "no count"),
        ("ring:" + "9" * 40, "no count"),
        ("torus:2x2:1GB/s:1GB/s", "torus:4x4x4:50GB/s"),
        ("leaf_spine:2x3", "leaf_spine:4x16x4:50GB/s:50GB/s"),
        ("a>b:5s", "no amount above zero in B/s"),
        ("ring:8:5s", "with rates ring:8:50GB/s"),
        ("a>b:1B/s:-1us", "not a number|no amount"),
        ("a>b:0GB/s", "no amount above zero"),
        ("a>b:x", "not a number"),
        ("a>b>c", "joins no two ends"),
        ("a>,b>c", "joins no two ends"),
        ("a>b,c>d", "not connected"),
        ("a>s*", "1 member"),
    ],
)
def test_what_is_wrong_is_named(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        written_fabric(text)


def test_demands_have_two_ends_and_bytes() -> None:
    assert written_demands("a>b:5GB, b>c:1 B") == (("a", "b", Fraction(5 * GB)), ("b", "c", Fraction(1)))
    with pytest.raises(UsageError, match="no amount above zero in B"):
        written_demands("a>b:5s")


WORDS = {  # the known cases of fabrics, as commands: factor of the expected value to SI
    "C07": ("leaf_spine_bisection leaves=4 hosts=16 spines=4 host_rate=50GB/s up_rate=100GB/s", 10**9),
    "C09": ("all_gather_steps n=6 ports=2", 1),
    "C10": ("all_gather_ports n=8 ports=6", 1),
    "C13": ("torus_bisection side=4 axes=3", 1),
    "C14": ("all_gather_fabric fabric=dgx1 size=1B", 1),
}


@pytest.mark.parametrize("name", [name for name in cases() if name in WORDS])
def test_a_known_case_by_its_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (words, factor), case = WORDS[name], cases()[name]
    assert run(["bound", *words.split(), "-o", "json"]) == 0
    value = json.loads(capsys.readouterr().out)["value"]["low"]
    assert value == pytest.approx(case["expected"] * factor, rel=max(float(case["rtol"]), 1e-12))


def test_the_fewest_steps_of_a_dgx1_are_two(capsys: pytest.CaptureFixture[str]) -> None:
    """C12: one step is not enough, two are (the bound's own proof asks a solver both)."""
    assert run(["bound", "fabric_hops", "fabric=dgx1", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"]["low"] == 2


@pytest.mark.parametrize(
    "words",
    [
        ("reduce_scatter_fabric", "size=3kB"),
        ("broadcast_fabric", "size=3kB", "latency=0s"),
        ("all_gather_fabric", "size=3kB"),
        ("all_reduce_fabric", "size=3kB"),
    ],
)
@pytest.mark.parametrize("ending", ["xml", "et"])
def test_every_collective_of_a_fabric_is_exported(words: tuple[str, ...], ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"out.{ending}"
    name, *inputs = words
    assert run(["bound", name, "fabric=a>s*:5GB/s,b>s*:5GB/s,c>s*:5GB/s", *inputs, "--schedule", str(file)]) == 0
    assert len(list(tmp_path.iterdir())) == (1 if ending == "xml" else 3)
