"""The known cases through the registry: each by its own bound, at the inputs of the case.

Not here: fabrics and packing (C.., B20, B21; they have their own file), and the ids of published arithmetic that no
bound of its own stands for: A16 and A17 (ratios of two published figures), R01 and R02 (a mean of counted failures and
its product), T05 (a ratio).  `test_published_formulas` reads and evaluates their formulas; R02 is also checked here
against `job_failure_time`, which divides what it multiplies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import pytest

from coherence.minimums.floors import at
from coherence.minimums.registry import entry
from tests.paths import DATA, read_yaml

CASES = DATA / "minimums-numeric.yaml"
ELSEWHERE = ("C", "B20", "B21", "A16", "A17", "R01", "R02", "T05")
Given = Mapping[str, Any]
Made = Callable[[Given], Mapping[str, Any]]
THOUSAND_DAYS = Fraction(86400 * 1000)


def exact(number: Any) -> Fraction:
    """What is written, not its nearest double."""
    return Fraction(str(number))


def same(**names: str) -> Made:
    """Symbol = name of the input, taken as it is."""
    return lambda given: {symbol: exact(given[name]) for symbol, name in names.items()}


def tokens_of_run(calls: int, first: int, added: int) -> Mapping[str, Fraction]:
    """New and sent tokens of an agent's run."""
    values = {"calls": Fraction(calls), "first": Fraction(first), "added": Fraction(added)}
    return {
        "new": Fraction(at(entry("tokens_read_once").bound, values)),
        "sent": Fraction(at(entry("tokens_sent_again").bound, values)),
    }


def trained(given: Given) -> Mapping[str, Any]:
    """Operations of a step of a transformer, for its utilisation."""
    shape = {"batch": "B", "sequence": "s", "layers": "L", "width": "h"}
    work = at(entry("transformer_operations").bound, {name: exact(given[key]) for name, key in shape.items()})
    return {"operations": work, "step": exact(given["t"]), "units": exact(given["n"]), "peak": exact(given["peak"])}


ROWS: dict[str, tuple[str, Made, Fraction]] = {
    "A01": ("barrier_exponential", lambda g: {"n": exact(g["n"]), "mean": 1 / exact(g["lam"])}, Fraction(1)),
    "A02": ("barrier_normal", lambda g: {"n": exact(g["n"]), "mean": Fraction(0), "sigma": Fraction(1)}, Fraction(1)),
    "A04": ("barrier_lognormal", same(n="n", sigma="sigma"), Fraction(1)),
    "A05": ("tail_at_scale", same(p="p", n="n"), Fraction(1)),
    "A06": ("tail_budget", same(q="q", n="n"), Fraction(1)),
    "A07": ("pipeline_bubble_share", same(p="p", m="m"), Fraction(1)),
    "A08": ("pipeline_bubble_interleaved", same(p="p", m="m", v="v"), Fraction(1)),
    "A10": ("pipeline_bubble_interleaved", same(p="p", m="m", v="v"), Fraction(1)),
    "A11": (
        "pipeline_zero_bubble_h1",
        same(forward="TF", input_gradient="TB", weight_gradient="TW"),
        Fraction(1),
    ),
    "A13": ("compute_time", same(operations="F", units="G", peak="peak"), Fraction(86400)),
    "A14": (
        "model_flops_utilization",
        lambda g: {"operations": exact(g["tflops"]), "step": 1, "units": 1, "peak": exact(g["peak"])},
        Fraction(1),
    ),
    "A15": ("model_flops_utilization", trained, Fraction(1)),
    "R04": ("checkpoint_interval_young", same(write="delta", mtbf="M_s"), Fraction(1)),
    "R05": ("checkpoint_interval_exact", same(write="delta", mtbf="M_s"), Fraction(1)),
    "R07": ("checkpoint_interval_daly", same(write="d", mtbf="M_s"), Fraction(1)),
    "R08": (
        "job_failure_time",
        lambda g: {"part_mtbf": THOUSAND_DAYS / exact(g["rate"]), "n": exact(g["nodes"])},
        Fraction(3600),
    ),
    "R09": (
        "job_failure_time",
        lambda g: {"part_mtbf": THOUSAND_DAYS / exact(g["rate"]), "n": exact(g["nodes"])},
        Fraction(3600),
    ),
    "B01": ("erlang_loss", same(servers="c", offered="a"), Fraction(1)),
    "B02": ("erlang_waiting", same(servers="c", offered="a"), Fraction(1)),
    "B04": ("square_root_staffing", same(beta="beta"), Fraction(1)),
    "B06": ("wait_without_variability", lambda g: {"load": exact(g["rho"]), "mean": 1 / exact(g["mu"])}, Fraction(1)),
    "B07": (
        "sojourn_quantile",
        lambda g: {"service_rate": exact(g["mu"]), "rate": exact(g["rho"]) * exact(g["mu"]), "q": exact(g["q"])},
        Fraction(1),
    ),
    "B08": ("power_of_choices", same(load="lam", choices="d"), Fraction(1)),
    "B09": ("power_of_choices", same(load="lam", choices="d"), Fraction(1)),
    "B10": (
        "kv_bytes_per_token",
        lambda g: {"layers": exact(g["L"]), "kv_heads": 1, "head": exact(g["h"]), "number": exact(g["bytes"])},
        Fraction(1),
    ),
    "B11": ("kv_bytes_per_token", same(layers="L", kv_heads="kv", head="hd", number="b"), Fraction(1)),
    "B13": (
        "kv_transfer_rate",
        lambda g: {"rate": exact(g["rate"]), "bytes": Fraction(9, 8) * 1024**3},  # 512 tokens of OPT-66B
        Fraction(1024**3, 8),
    ),
    "B14": ("decode_ridge_batch", same(peak="peak", bandwidth="BW", number="bytes"), Fraction(1)),
    "B15": (
        "decode_step_time",
        lambda g: {
            "weights": exact(g["P"]) * exact(g["bytes"]),
            "batch": 0,
            "context": 0,
            "kv_bytes": 0,
            "units": exact(g["g"]),
            "bandwidth": exact(g["BW"]),
        },
        Fraction(1, 1000),
    ),
    "B16": ("batch_forming_delay", same(batch="b", rate="lam"), Fraction(1)),
    "B18": ("age_best_load", dict, Fraction(1)),
    "Q02": ("retry_attempts", lambda g: {"p": exact(g["p"]), "tries": exact(g["r"]) + 1}, Fraction(1)),
    "Q03": ("retries_for_availability", same(p="p", availability="A"), Fraction(1)),
    "Q04": ("overload_free_load", lambda g: {"tries": exact(g["r"]) + 1}, Fraction(1)),
    "Q05": (
        "try_timeout_in_deadline",
        lambda g: {"deadline": exact(g["D"]) / 1000, "tries": exact(g["n"]), "pause": exact(g["bk"]) / 1000},
        Fraction(1, 1000),
    ),
    "K01": ("data_rate", lambda g: {"eigenvalues": tuple(map(exact, g["eigs"]))}, Fraction(1, 8)),
    "K03": ("data_rate_continuous", lambda g: {"poles": (exact(g["p"]),)}, Fraction(1, 8)),
    "K05a": ("delay_gain_sampled", same(delay="d"), Fraction(1)),
    "K05b": ("delay_gain_sampled", same(delay="d"), Fraction(1)),
    "K06": ("delay_gain_continuous", same(delay="tau"), Fraction(1)),
    "K07": ("unstable_pole_peak", same(pole="p", delay="tau"), Fraction(1)),
    "K08": ("time_scale_separation", same(a11="a11", a12="a12", a21="a21", a22="a22"), Fraction(1)),
    "G01": ("price_of_anarchy", lambda _: {"degree": Fraction(1)}, Fraction(1)),
    "D01": (
        "clock_synchronisation",
        lambda g: {"uncertainty": exact(g["u_ms"]) / 1000, "n": exact(g["n"])},
        Fraction(1, 1000),
    ),
    "D02": ("sequential_consistency", lambda g: {"delay": exact(g["d_ms"]) / 1000}, Fraction(1, 1000)),
    "T02": ("tokens_read_once", same(calls="k", first="c0", added="a"), Fraction(1)),
    "T03": (
        "tokens_cached",
        lambda g: {"write": exact(g["w"]), "read": exact(g["r"]), **tokens_of_run(20, 2000, 800)},
        Fraction(1),
    ),
    "T04": ("tokens_until_accepted", same(attempt="T", q="q"), Fraction(1)),
    "T07": ("agent_critical_path", same(steps="k", tokens="t", rate="r", tool="s"), Fraction(1)),
    "E01": (
        "ghost_cost",
        lambda g: {
            "loss": exact(g["loss"]),
            "minimum": exact(g["min"]),
            "members": exact(g["G"]),
            "duration": exact(g["hours"]) * 3600,
            "price": exact(g["price"]) / 3600,
        },
        Fraction(1),
    ),
}  # symbols and values in SI; the last is one unit of the case in SI


def cases() -> list[Any]:
    """Those of the file that have a bound of their own."""
    read = read_yaml(CASES)["cases"]
    return [pytest.param(case, id=case["id"]) for case in read if not case["id"].startswith(ELSEWHERE)]


@pytest.mark.parametrize("case", cases())
def test_a_bound_has_the_value_of_the_case(case: dict[str, Any]) -> None:
    name, made, unit = ROWS[case["id"]]
    found = float(at(entry(name).bound, made(case["inputs"]))) / float(unit)
    assert found == pytest.approx(float(case["expected"]), rel=max(float(case["rtol"]), 1e-12))


def test_failures_per_part_and_of_the_job_are_inverse() -> None:
    read = {case["id"]: case for case in read_yaml(CASES)["cases"]}
    parts, job = read["R02"], read["R01"]
    inputs = {"part_mtbf": exact(parts["expected"]), "n": exact(parts["inputs"]["G"])}
    assert float(at(entry("job_failure_time").bound, inputs)) == pytest.approx(float(job["expected"]), rel=1e-6)


def test_every_row_names_a_bound_and_its_symbols() -> None:
    assert all(entry(name) for name, _, _ in ROWS.values())
