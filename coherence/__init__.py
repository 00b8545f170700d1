"""coherence: check a combination of control loops before it is deployed.

    import coherence as co

    design = co.read("design.yaml")           # or a text, a mapping, manifests, a folder
    report = co.check(design)                 # conflicts with witnesses, proofs with certificates
    co.fix(design).diff                       # the smallest change that is proved to remove the conflicts
    co.diff(design, environments=("a", "b"))  # which verdicts change between two environments or designs, and why
    co.execute(design, until="10 min")        # one exact run of the loops
    co.simulate(design, until="2 min")        # requests, loops and jobs, each number with its interval
    co.analyze(design)                        # what settles, what swings, margins, blame
    co.sweep(design, {"loops.hpa.target.setpoint": ("30 %", "80 %", 6)})
    co.region(design, {"calls.0.tries": (1, 6)})
    co.fit(design, telemetry, loss="gateway.wait")
    co.bound("all_reduce_end_point", n=8, size="8 GiB", bandwidth="300 GB/s")
    co.floors(design)                         # what no retuning of it can reach
    co.graph(design)                          # networkx

Every verb takes a Design, a path, a text (a str with a newline) or a mapping, and returns a frozen result with
`to_frame()` (pandas), `to_dict()` (what the command prints as JSON) and HTML for notebooks; where there is something
to see, `plot(ax=None)` (matplotlib).  Numbers are in SI units; texts with units are taken wherever a number is.
Errors are of one tree, CoherenceError.  Everything is imported when it is first used.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # of `typing`, which costs more than all of this

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from coherence.base.errors import CoherenceError, InputError
    from coherence.door.analyze import analyze
    from coherence.door.bound import bound, bounds, floors
    from coherence.door.check import check
    from coherence.door.diff import diff
    from coherence.door.execute import execute
    from coherence.door.fit import fit, rank
    from coherence.door.fix import fix
    from coherence.door.graph import graph
    from coherence.door.import_design import import_design
    from coherence.door.region import region
    from coherence.door.simulate import simulate
    from coherence.door.sources import read
    from coherence.door.sweep import sweep
    from coherence.findings.finding import Finding, Verdict
    from coherence.language.design import Design
    from coherence.loops.interchange.network_parts import network
else:
    ModuleType = type(sys)

_HOMES = {
    "CoherenceError": "base.errors",
    "Design": "language.design",
    "Finding": "findings.finding",
    "InputError": "base.errors",
    "Verdict": "findings.finding",
    "analyze": "door.analyze",
    "bound": "door.bound",
    "bounds": "door.bound",
    "check": "door.check",
    "diff": "door.diff",
    "execute": "door.execute",
    "fit": "door.fit",
    "fix": "door.fix",
    "floors": "door.bound",
    "graph": "door.graph",
    "import_design": "door.import_design",
    "network": "loops.interchange.network_parts",
    "rank": "door.fit",
    "read": "door.sources",
    "region": "door.region",
    "simulate": "door.simulate",
    "sweep": "door.sweep",
}

__all__ = [
    "CoherenceError", "Design", "Finding", "InputError", "Verdict", "analyze", "bound", "bounds", "check", "diff",
    "execute", "fit", "fix", "floors", "graph", "import_design", "network", "rank", "read", "region", "simulate",
    "sweep",
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


class _SimulateFolder(ModuleType):
    """The engine's folder `coherence.simulate`, which can be called as the verb of its name (docs/adr/121)."""

    def __call__(self, *sources: Any, **options: Any) -> Any:
        return __getattr__("simulate")(*sources, **options)

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(__getattr__("simulate"))


class _FrontDoor(ModuleType):
    """This module: importing the folder of an engine sets it here, under the name of a verb."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "simulate" and isinstance(value, ModuleType):
            value.__class__ = _SimulateFolder
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _FrontDoor


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
