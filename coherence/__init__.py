"""coherence: check a combination of control loops before it is deployed.

    design = coherence.read_design("design.yaml")
    report = coherence.check("design.yaml")
    for finding in report.findings: ...

Everything is imported when it is first used: `import coherence` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coherence.design import Design
    from coherence.elaborate import elaborate
    from coherence.errors import CoherenceError, InputError
    from coherence.finding import Evidence, Finding, Repair, Report, Severity, Verdict
    from coherence.places import Place
    from coherence.reading import read_design
    from coherence.simulate.exact import Choices, execute
    from coherence.workspace import check

_HOMES = {
    "Choices": "simulate.exact", "CoherenceError": "errors", "Design": "design", "Evidence": "finding",
    "Finding": "finding", "InputError": "errors", "Place": "places", "Repair": "finding", "Report": "finding",
    "Severity": "finding", "Verdict": "finding", "check": "workspace", "elaborate": "elaborate",
    "execute": "simulate.exact", "read_design": "reading",
}  # fmt: skip

__all__ = [
    "Choices", "CoherenceError", "Design", "Evidence", "Finding", "InputError", "Place", "Repair", "Report",
    "Severity", "Verdict", "check", "elaborate", "execute", "read_design",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The public names, imported on first use (PEP 562)."""
    if name == "__version__":
        from coherence.version import VERSION

        return VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'coherence' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"coherence.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
