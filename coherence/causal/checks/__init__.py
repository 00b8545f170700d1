"""Questions about a design and its telemetry together, one file each: `QUESTIONS` and `ask(context)`.

They are asked by `coherence fit`, never by `coherence check`: a design alone has no telemetry.  No list is edited.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherence.causal.session.context import Context
    from coherence.findings.finding import Finding


def findings(context: Context) -> Iterator[Finding]:
    """What every question says, in the order of the codes."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    for module in sorted(modules, key=lambda module: str(module.QUESTIONS[0].code)):
        yield from module.ask(context)
