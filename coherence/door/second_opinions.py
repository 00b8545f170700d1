"""Asks python-control for second opinions on the linear verdicts that `analyze` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherence.base.watchdog import TimeOverError, at_most

if TYPE_CHECKING:
    from coherence.loops.analysis.design_analysis import DesignAnalysis
    from coherence.loops.analysis.network_analysis import NetworkAnalysis
    from coherence.loops.interchange.cross_check import CrossCheck
    from coherence.model.model import Model


@dataclass(frozen=True)
class CrossChecks:
    """The second opinions that were asked for; none where `--cross-check` is not given."""

    checks: tuple[CrossCheck, ...] = ()

    @property
    def differ(self) -> bool:
        """Decides whether an opinion on the same system contradicts ours."""
        return any(check.differs for check in self.checks)

    def render(self) -> str:
        from coherence.loops.interchange.cross_check import render

        return render(self.checks) if self.checks else ""

    def to_dict(self) -> dict[str, Any]:
        """Returns what is added to the document for programs."""
        return {"cross_check": [check.to_dict() for check in self.checks]} if self.checks else {}


def cross_checked(
    analysis: DesignAnalysis | NetworkAnalysis, path: str, model: Model | None, seconds: float
) -> CrossChecks:
    """Returns the second opinions that are reached in time; what is not is named.  Raises MissingExtraError."""
    from coherence.loops.interchange.cross_check import CrossCheck
    from coherence.loops.interchange.design_cross_checks import cross_checks
    from coherence.loops.interchange.loop_analysis import LoopAnalysis
    from coherence.loops.interchange.python_control import python_control

    checks: list[CrossCheck] = []
    python_control()
    try:
        with at_most(seconds, processor=True):
            checks.extend(cross_checks(LoopAnalysis(analysis, path, model=model)))
    except TimeOverError:
        checks.append(CrossCheck(path, "", (), f"the time limit of {seconds:g} s was reached"))
    return CrossChecks(tuple(checks))
