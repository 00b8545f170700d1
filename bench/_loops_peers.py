"""python-control with and without slycot on the network that this engine analyses, each in a process of its own.

The peer gets every delay as Pade-3, builds the network by `interconnect`, and is asked for its poles and for its
H-infinity norm.  slycot's routines (SLICOT) make the norm exact for the approximated system; without them
python-control bisects on its own.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from bench._loops_roots import dense
from bench.harness import BenchError, Row, process
from coherence.loops.margins.peaks import amplification
from coherence.loops.networks.delayed_verdict import verdict
from coherence.loops.networks.network import Block, Coupling, Network, network

MINUTES = 1  # of processor, about
LOOPS, STRENGTH = 50, 0.5
NARROW = 1e-3  # damping of the resonance that a grid of frequencies misses


def rows() -> Iterator[Row]:
    """Processor time of the whole question, and the peak, beside both peers."""
    net = dense(LOOPS, STRENGTH)
    start = time.process_time()
    mine, peak = verdict(net).verdict, _peak(net)
    spent = time.process_time() - start
    peers = {name: _peer(net, slycot=with_it) for name, with_it in (("without", False), ("with", True))}
    words = "; ".join(f"{name} slycot {_render(peer)}" for name, peer in peers.items())
    yield Row(
        f"{LOOPS} dense loops: verdict and peak, {mine}, {peak:.6g}", spent, "<= 1", "s", f"python-control {words}"
    )
    narrow = resonance()
    exact = 1 / (2 * NARROW * (1 - NARROW**2) ** 0.5)
    peers = {name: _peer(narrow, slycot=with_it) for name, with_it in (("without", False), ("with", True))}
    words = "; ".join(f"{name} slycot {_error(peer, exact)}" for name, peer in peers.items())
    error = abs(_peak(narrow, tolerance=1e-9) / exact - 1)
    yield Row("peak of a narrow resonance: relative error", error, "<= 1e-6", "", f"python-control {words}")


def resonance() -> Network:
    """1 / (s^2 + 2 z s + 1), closed by the coupling of an integrated position: peak 1 / (2 z sqrt(1 - z^2))."""
    blocks = [Block("x", (1.0,), (1.0, 2 * NARROW, 0.0)), Block("still", (0.0,), (1.0, 1.0))]
    return network(blocks, [Coupling("x", "x", -1.0)])


def _peak(made: Network, tolerance: float = 1e-6) -> float:
    found = amplification(made, tolerance=tolerance).peak
    return found.value if found else float("nan")


def _render(found: dict[str, Any]) -> str:
    if "missing" in found:
        return str(found["missing"])
    said = "stable" if found["growth"] < 0 else "unstable"
    return f"{found['seconds']:.1f} s, {said}, peak {found['peak']}"


def _error(found: dict[str, Any], exact: float) -> str:
    if "missing" in found:
        return str(found["missing"])
    return f"{abs(found['peak'] / exact - 1):.1e}" if isinstance(found["peak"], float) else str(found["peak"])


def _peer(net: Network, *, slycot: bool) -> dict[str, Any]:
    """Seconds, growth and norm by python-control; `missing` where it (or slycot) is not installed."""
    for name in ("control", *(("slycot",) if slycot else ())):
        if importlib.util.find_spec(name) is None:
            return {"missing": f"({name} is not installed)"}
    system = {
        "blocks": [[b.name, list(b.numerator), list(b.denominator), b.delay] for b in net.blocks],
        "couplings": [[c.source, c.target, c.gain] for c in net.couplings],
    }
    code = f"from bench import _loops_peers as p; p.run({json.dumps(system)!r}, {slycot})"
    try:
        return dict(json.loads(process([sys.executable, "-c", code]).stdout.splitlines()[-1]))
    except BenchError as error:
        return {"missing": str(error).splitlines()[-1]}


def run(text: str, slycot: bool) -> None:
    """Print what python-control finds; the process knows slycot or does not."""
    if not slycot:
        sys.modules["slycot"] = None  # type: ignore[assignment]
    import control

    system = json.loads(text)
    start = time.process_time()
    plants = [_plant(control, *block) for block in system["blocks"]]
    names = [block[0] for block in system["blocks"]]
    fed: dict[str, list[Any]] = {name: [f"{name}.u"] for name in names}
    for source, target, gain in system["couplings"]:
        fed[target].append((names.index(source), 0, gain))
    whole = control.interconnect(
        plants,
        connections=list(fed.values()),
        inplist=[f"{name}.u" for name in names],
        outlist=[f"{name}.y" for name in names],
    )
    state_space = control.ss(whole.A, whole.B, whole.C, whole.D)
    growth = float(np.linalg.eigvals(state_space.A).real.max())
    try:
        peak: float | str = float(control.system_norm(state_space, p="inf", print_warning=False))
    except Exception as error:  # noqa: BLE001  (whatever the peer raises is its answer)
        peak = f"none ({type(error).__name__})"
    print(json.dumps({"seconds": time.process_time() - start, "growth": growth, "peak": peak}))


def _plant(control: Any, name: str, numerator: list[float], denominator: list[float], delay: float) -> Any:
    plant = control.tf(numerator, denominator)
    if delay:
        plant = plant * control.tf(*control.pade(delay, 3))
    return control.ss(plant, name=name, inputs=["u"], outputs=["y"])
