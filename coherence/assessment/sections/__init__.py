"""The sections of an assessment, one file each: `ORDER`, `TITLE` and `section(assessment)`, the children of it.

A new file is found by the package walk.  A section that cannot say anything says what is missing; one that does not
apply (no telemetry was given) returns nothing and is left out.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from coherence.base.errors import InternalError


def sections() -> list[ModuleType]:
    """Returns the modules of all sections in order.  Raises InternalError where two claim one place."""
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    places = [module.ORDER for module in modules]
    if len(set(places)) < len(places):
        raise InternalError("two sections of the assessment claim one place")
    return sorted(modules, key=lambda module: module.ORDER)
