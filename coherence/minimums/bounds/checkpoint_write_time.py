"""checkpoint write: the least time to save a state through its writers and into its storage.

## What
All bytes leave through writers of `bandwidth` each and enter storage of rate `storage`: no schedule is faster than
bytes over the smaller of the two.

## Why it matters
It is the least `write` of `checkpoint_overhead` for checkpoints that stop the work: more writers help only until the
storage is full.

## Example
6.48 TB of state (405e9 parameters of 16 bytes) from 2,048 nodes of 25 GB/s into 2 TB/s of storage: 3.24 s.

## Source
L. R. Ford and D. R. Fulkerson, 1956: the two cuts of a star; the smaller one is attained.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Status, Symbol, Trend, Witness

WRITERS = 4
PARTS = 16


def run(inputs: Inputs) -> Fraction:
    """Part by part: in each turn every writer sends what it and its share of the storage allow."""
    writers = int(inputs["writers"])
    left = Fraction(inputs["size"]) / writers
    rate = min(Fraction(inputs["bandwidth"]), Fraction(inputs["storage"]) / writers)
    part, spent = left / PARTS, Fraction(0)
    for _ in range(PARTS):
        spent += part / rate
        left -= part
    assert not left
    return spent


def cuts() -> Checked:
    """Bytes of WRITERS writers, any split: all cannot be written below the bound (unsat), at it they can (sat)."""

    def script(time: str, storage: int) -> str:
        lines = ["(set-logic QF_LRA)", *(f"(declare-const x{i} Real)" for i in range(WRITERS))]
        lines += [f"(assert (and (>= x{i} 0) (<= x{i} (* 3 {time}))))" for i in range(WRITERS)]
        total = " ".join(f"x{i}" for i in range(WRITERS))
        lines += [f"(assert (= (+ {total}) 60))", f"(assert (<= (+ {total}) (* {storage} {time})))", "(check-sat)"]
        return "\n".join(lines) + "\n"

    below = [script("(/ 4999 1000)", 100), script("(/ 9999 1000)", 6)]  # 60/(4 * 3) and 60/6
    at = [script("5", 100), script("10", 6)]
    holds = solver.unsat(solver.joined(below), timeout_ms=2000).unsat
    reached = not any(solver.unsat(one, timeout_ms=2000).unsat for one in at)
    return Checked(holds and reached, "below the smaller cut no split is written, at it one is", solver.joined(below))


BOUND = Bound(
    name="checkpoint_write_time",
    group="checkpoints",
    quantity="time to write one checkpoint",
    unit="s",
    kind=Status.TIGHT,
    loss="R",
    symbols=(
        Symbol("size", "B", "bytes that every checkpoint saves", Trend.RISES, sign="S"),
        Symbol("writers", "1", "machines that write at once", Trend.FALLS, least=1, whole=True, sign="n"),
        Symbol("bandwidth", "B/s", "rate of one writer to storage", Trend.FALLS, open_=True, sign="B"),
        Symbol("storage", "B/s", "rate of the whole storage", Trend.FALLS, open_=True),
    ),
    formula="size / min(writers * bandwidth, storage)",
    assumptions=("uncompressed", "fluid"),
    source="Ford and Fulkerson 1956",
    examples=(
        Example(
            {"size": Fraction(648 * 10**10), "writers": 2048, "bandwidth": Fraction(25 * 10**9),
             "storage": Fraction(2 * 10**12)},
            3.24,
            "arithmetic",
        ),
        Example(
            {"size": Fraction(60), "writers": 4, "bandwidth": Fraction(3), "storage": Fraction(100)}, 5.0, "writers"
        ),
    ),
    proofs=(Recheck("smt", "both cuts", cuts),),
    witness=Witness("writers that send part by part", run),
    telemetry=("bytes of a checkpoint", "rate of the storage"),
    unread="no key states the bytes of a checkpoint and the rate of storage; a job states the time",
)  # fmt: skip
