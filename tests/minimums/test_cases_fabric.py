"""The known cases of collectives, fabrics and packing: each id is one bound at inputs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from fractions import Fraction
from io import StringIO
from typing import Any

import pytest

from coherence.base import solver
from coherence.cli._run import run
from coherence.minimums.fabric.cuts import all_gather, capacity, every_cut
from coherence.minimums.fabric.step_schedules import decided, executed, schedule
from coherence.minimums.fabric.wiring import dgx1, leaf_spine, ring
from coherence.minimums.floors import at
from coherence.minimums.registry import entry
from tests.paths import DATA, read_yaml

CASES = DATA / "minimums-numeric.yaml"
MESSAGES = {"n": ("n", 1), "S_bytes": ("size", 1), "B_Bps": ("bandwidth", 1), "alpha_s": ("alpha", 1)}
Renamed = Mapping[str, tuple[str, int]]

# id -> bound, the case's inputs -> ours with the factor to SI, factor of the expected value to SI
BY_BOUND: Mapping[str, tuple[str, Renamed, int]] = {
    "C01": ("all_reduce_end_point", MESSAGES, 1),
    "C02": ("all_reduce_ring", MESSAGES, 1),
    "C03": ("all_reduce_alpha_beta", MESSAGES, 1),
    "C04": ("all_reduce_rabenseifner", MESSAGES, 1),
    "C05": ("switch_reduction_gain", {"n": ("n", 1)}, 1),
    "C07": (
        "leaf_spine_bisection",
        {"leaves": ("leaves", 1), "hosts_per_leaf": ("hosts", 1), "spines": ("spines", 1),
         "B_host": ("host_rate", 10**9), "B_up": ("up_rate", 10**9)},
        10**9,
    ),
    "C09": ("all_gather_steps", {"n": ("n", 1), "ports": ("ports", 1)}, 1),
    "C10": ("all_gather_ports", {"n": ("n", 1), "deg": ("ports", 1)}, 1),
}  # fmt: skip


def _torus(inputs: Mapping[str, Any]) -> Any:
    return at(entry("torus_bisection").bound, {"side": Fraction(inputs["k"]), "axes": Fraction(3)})


def _dgx(_: Mapping[str, Any]) -> Any:
    return at(entry("all_gather_fabric").bound, {"fabric": dgx1(), "size": Fraction(1)})  # type: ignore[dict-item]


def _steps(_: Mapping[str, Any]) -> Any:
    return "/".join(str(decided(dgx1(), steps, rounds=2).outcome) for steps in (1, 2))


def _slices(inputs: Mapping[str, Any]) -> Any:
    _, _, profile = inputs["profile"].partition(":")
    each, compute, each_memory, memory = (Fraction(word) for word in profile.replace(",", "").split() if word.isdigit())
    sizes = {"compute": compute, "memory": memory, "each": each, "each_memory": each_memory}
    return at(entry("slice_packing").bound, sizes)


def _bins(inputs: Mapping[str, Any]) -> Any:
    sizes = (Fraction(str(inputs["size"])),) * inputs["n"]
    return at(entry("bins_needed").bound, {"sizes": sizes, "capacity": Fraction(1)})


BY_HAND: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "C12": _steps, "C13": _torus, "C14": _dgx, "B20": _slices, "B21": _bins,
}  # fmt: skip


def cases() -> dict[str, Any]:
    """The cases of this group by id."""
    read = read_yaml(CASES)["cases"]
    return {str(case["id"]): case for case in read if str(case["id"])[0] == "C" or case["id"] in ("B20", "B21")}


def test_every_case_of_this_group_is_answered() -> None:
    assert set(cases()) == set(BY_BOUND) | set(BY_HAND)


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: str(case["id"]))
def test_a_known_case(case: Mapping[str, Any]) -> None:
    if case["id"] in BY_HAND:
        found = BY_HAND[case["id"]](case["inputs"])
        factor = 1
    else:
        name, renamed, factor = BY_BOUND[case["id"]]
        inputs = {renamed[key][0]: Fraction(str(x)) * renamed[key][1] for key, x in case["inputs"].items()}
        found = at(entry(name).bound, inputs)
    if isinstance(case["expected"], str):
        assert found == case["expected"]
    else:
        assert float(found) == pytest.approx(case["expected"] * factor, rel=max(float(case["rtol"]), 1e-15))


COMMANDS: Mapping[str, tuple[str, float]] = {  # id -> what to write, and the expected value in SI
    "C01": ("all_reduce_end_point n=8 size=8589934592_B bandwidth=300_GB/s", 0.05010795178666667),
    "C02": ("all_reduce_ring n=64 size=1_GB bandwidth=25_GB/s alpha=20_us", 0.08127),
    "C03": ("all_reduce_alpha_beta n=64 size=1_GB bandwidth=25_GB/s alpha=20_us", 0.07875),
    "C04": ("all_reduce_rabenseifner n=64 size=1_GB bandwidth=25_GB/s alpha=20_us", 0.07899),
    "C05": ("switch_reduction_gain n=8", 14 / 9),
    "C07": ("leaf_spine_bisection leaves=4 hosts=16 spines=4 host_rate=50_GB/s up_rate=100_GB/s", 800e9),
    "C09": ("all_gather_steps n=6 ports=2", 3),
    "C10": ("all_gather_ports n=8 ports=6", 7 / 6),
    "C12": ("all_gather_steps n=8 ports=6", 2),  # one step is not enough, two are
    "C13": ("torus_bisection side=4 axes=3", 32),
    "C14": ("all_gather_fabric fabric=dgx1 size=1_B", 7 / 6),
    "B20": ("slice_packing compute=7 memory=8 each=3 each_memory=4", 1 / 7),
    "B21": (f"bins_needed sizes={','.join(['0.51'] * 10)} capacity=1", 10),
}


def _spaced(word: str) -> str:
    name, equals, given = word.partition("=")
    return f"{name}{equals}{given.replace('_', ' ')}"


def commanded(words: str) -> float:
    """Returns what the command says, in SI."""
    with redirect_stdout(StringIO()) as shown:
        run(["bound", *(_spaced(word) for word in words.split()), "-o", "json"])
    return float(json.loads(shown.getvalue())["value"]["low"])


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: str(case["id"]))
def test_a_known_case_by_the_command(case: Mapping[str, Any]) -> None:
    words, expected = COMMANDS[str(case["id"])]
    assert commanded(words) == pytest.approx(expected, rel=1e-9)
    if not isinstance(case["expected"], str):
        assert expected == pytest.approx(case["expected"] * (10**9 if case["unit"] == "GB/s" else 1), rel=1e-9)


def test_the_same_by_other_methods() -> None:
    """The mathematics of the cases without their file."""
    fabric = leaf_spine(4, 16, 4, 50, 100)
    assert capacity(fabric, fabric.names[:32], fabric.names[32:]).rate == 800
    assert [decided(ring(6), steps).outcome for steps in (1, 2)] == [solver.Outcome.UNSAT] * 2
    assert executed(ring(6), schedule(ring(6), decided(ring(6), 3))) == 3
    cuts = list(every_cut(dgx1()))
    assert len(cuts) == 254
    assert max(cut.time for cut in cuts) == all_gather(dgx1()).time == Fraction(7, 6)
