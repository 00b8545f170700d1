"""Converts a run of the request-level engine to a log of requests."""

from __future__ import annotations

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.data.request_log import RequestLog, request_log
from coherence.causal.data.series import Excluded
from coherence.simulate.requests.engine import RequestResult
from coherence.simulate.requests.station_times import held_times, stamps
from coherence.simulate.study.recording import isolated


def of_run(result: RequestResult, *, deadline: float | None = None) -> RequestLog:
    """Finished requests of a run; the service is the source.  Raises UsageError where nothing was answered.

    Requests that were given up have the mean need of their source, and those of a source of which none was answered
    take no part; both are told in `excluded`.  Where the run was traced: what each held of servers, unless these are
    shared, and the layers, which are the stations of a chain of calls if all requests pass the same ones.  Requests
    still in flight are not in the records of a run.
    """
    log, needs, held = result.requests, isolated(result), held_times(result)
    known = np.isfinite(needs)
    if not known.any():
        raise UsageError("no request of this run was answered, so nothing tells what one needs: run it for longer")
    names = np.array([source.name for source in result.program.sources])
    guessed = int((~(log.completed & (log.need > 0)))[known].sum())
    outcomes = []
    if guessed:
        outcomes.append(Excluded(f"the need of {guessed:,} requests", "not answered: the mean of their source stands"))
    if not known.all():
        gone = ", ".join(sorted(set(names[log.source[~known]].tolist())))
        outcomes.append(Excluded(f"requests of {gone}", "none was answered, so nothing tells what one needs"))
    return request_log(
        log.start[known], needs[known], log.end[known],
        completed=log.completed[known],
        deadline=deadline,
        attempts=np.maximum(log.tries[known], 1),
        service=names[log.source[known]],
        held=None if held is None else held[known],
        layers={layer.name: (layer.left[known], layer.share * needs[known]) for layer in stamps(result)},
        until=max(result.end, float(log.end[known].max())),
        excluded=tuple(outcomes),
    )  # fmt: skip
