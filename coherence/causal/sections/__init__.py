"""The sections of `coherence fit`, one file each: `ORDER` (where it stands) and `answer(context) -> Answer | None`.

None: the section has nothing to say about this design, this telemetry and these settings.  No list is edited: a new
file is found by the package walk.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

from coherence.base.errors import InternalError

if TYPE_CHECKING:
    from coherence.causal.answers.answer import Section
    from coherence.causal.session.context import Context


def sections() -> list[ModuleType]:
    """Every section, in order.  Raises InternalError where two claim one place."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    places: dict[int, str] = {}
    for module in modules:
        if module.ORDER in places:
            raise InternalError(f"place {module.ORDER} is claimed by {places[module.ORDER]} and {module.__name__}")
        places[module.ORDER] = module.__name__
    return sorted(modules, key=lambda module: module.ORDER)


def answers(context: Context) -> Iterator[tuple[float, Section | None]]:
    """(share done, answer) of each section in turn."""
    every = sections()
    for number, module in enumerate(every, start=1):
        yield number / len(every), module.answer(context)
