"""coherence: check a combination of control loops before it is deployed.

    design = coherence.read_design("design.yaml")
    report = coherence.check("design.yaml")
    for finding in report.findings: ...

Everything is imported when it is first used: `import coherence` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherence.base.errors import CoherenceError, InputError
    from coherence.base.places import Place
    from coherence.checking.workspace import check
    from coherence.findings.finding import Evidence, Finding, Repair, Report, Severity, Verdict
    from coherence.language.design import Design
    from coherence.language.reading import read_design
    from coherence.loops.interchange.loop_analysis import analyze
    from coherence.loops.interchange.network_parts import network
    from coherence.model.elaborate import elaborate
    from coherence.simulate.execute.exact import Choices, execute

_HOMES = {
    "Choices": "simulate.execute.exact",
    "CoherenceError": "base.errors",
    "Design": "language.design",
    "Evidence": "findings.finding",
    "Finding": "findings.finding",
    "InputError": "base.errors",
    "Place": "base.places",
    "Repair": "findings.finding",
    "Report": "findings.finding",
    "Severity": "findings.finding",
    "Verdict": "findings.finding",
    "analyze": "loops.interchange.loop_analysis",
    "check": "checking.workspace",
    "elaborate": "model.elaborate",
    "execute": "simulate.execute.exact",
    "network": "loops.interchange.network_parts",
    "read_design": "language.reading",
}

__all__ = [
    "Choices", "CoherenceError", "Design", "Evidence", "Finding", "InputError", "Place", "Repair", "Report",
    "Severity", "Verdict", "analyze", "check", "elaborate", "execute", "network", "read_design",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The public names, imported on first use (PEP 562)."""
    if name == "__version__":
        from coherence.base.version import VERSION

        return VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'coherence' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"coherence.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
