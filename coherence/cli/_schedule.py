"""Writes what attains a floor of a fabric: for a collective runtime (XML), or for a simulator (.et)."""

from __future__ import annotations

from collections.abc import Sequence

from coherence.base.errors import UsageError
from coherence.cli._given import refuse_given


def write_schedule(name: str, inputs: Sequence[str], file: str) -> int:
    """Writes what attains the bound; the answer stands in the file alone, or in one for each member (.et)."""
    from coherence.base.output_files import refuse_foreign, write_output
    from coherence.door.bound import bound_at
    from coherence.minimums.fabric.simulator_trace import SIGNATURE, traces
    from coherence.minimums.registry import bounds

    refuse_given(("output", "picture"), "--schedule writes a schedule and prints nothing")
    able = [bound.name for bound in bounds() if bound.schedule is not None]
    algorithm_of = next((bound.schedule for bound in bounds() if bound.name == name), None)
    if algorithm_of is None:
        raise UsageError(f"{name} names no schedule for a runtime; these do: {', '.join(able)}")
    if not inputs:
        raise UsageError(f"give the fabric: coherence bound {name} fabric=0>1,1>2,2>0 size=1GB --schedule {file}")
    answers = bound_at(name, inputs).answers
    assert answers is not None
    given = {symbol: low for symbol, (low, _) in answers.floor.inputs.items()}
    algorithm = algorithm_of(given)
    if not file.endswith(".et"):
        write_output(file, algorithm.encode(), mark=b"<algo")
        return 0
    stem, mark = file.removesuffix(".et"), SIGNATURE.encode()
    members = {f"{stem}.{rank}.et": trace for rank, trace in enumerate(traces(algorithm, given["size"]))}
    for path in members:
        refuse_foreign(path, mark=mark)
    for path, trace in members.items():
        write_output(path, trace, mark=mark)
    return 0
