"""Reads the mean and the longest service of a workload."""

from __future__ import annotations

from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Spread2, Workload


def mean_service(workload: Workload) -> Quantity | None:
    """Returns the mean time that one member works for a request; None where it is not stated as a time."""
    mean = workload.service.mean if isinstance(workload.service, Spread2) else workload.service
    return mean if mean is not None and mean.dimension.physical.powers == (("s", 1),) else None


def mean_time(thing: str, time: Quantity, workload: str) -> str:
    """Returns, in words, the mean that a range of times of a request leaves open, and where it is stated."""
    return f"the mean time of a request at {thing}, in {time} (`service: {{mean: ...}}` of {workload})"


def longest_service_of(workload: Workload) -> Quantity | None:
    """Returns the `max` that cuts the services of a workload, where the mean of what it leaves is not their mean."""
    service = workload.service
    most = service.max if isinstance(service, Spread2) else None
    if most is None or not isinstance(service, Spread2) or service.mean is None:
        return None
    constant = service.cv is not None and service.cv.high == 0 and most.low >= service.mean.high
    return None if constant else most


def longest_time(workload: Workload) -> Quantity | None:
    """Returns how long the service of one request may take; None where its law has no end."""
    service = workload.service
    if not isinstance(service, Spread2):
        return service
    constant = service.law is not None and service.law.text == "constant"
    constant = constant or (service.cv is not None and service.cv.high == 0)
    ends = [service.mean if constant else None, service.max]
    return min((end for end in ends if end is not None), key=lambda end: end.high, default=None)
