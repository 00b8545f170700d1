"""The sections of `coherence fit`, one file each: `ORDER` (where it stands) and `answer(context) -> Answer | None`.

None: the section has nothing to say about this design, this telemetry and these settings.  No list is edited: a new
file is found by the package walk.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from coherence.base.errors import InternalError
from coherence.base.watchdog import STOPPED, TimeOverError, current_run

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


def answers(context: Context) -> Iterator[Section]:
    """Yields the answer of each section in turn; the last names those that the run's limit, or Ctrl-C, left out."""
    run, every = current_run(), sections()
    for number, module in enumerate(every):
        run.announce(number / len(every), f"fitting {_name(module)}")
        try:
            with run.ending():
                section = module.answer(context)
        except TimeOverError:
            yield _left_out("the time limit is over", every[number:])
            return
        except KeyboardInterrupt:
            run.stopped = True
            yield _left_out(STOPPED, every[number:])
            return
        if section is not None:
            yield section


def _left_out(why: str, modules: Sequence[ModuleType]) -> Section:
    from coherence.causal.answers.answer import Section

    missing = [_name(module) for module in modules]
    return Section("Not answered", (f"{', '.join(missing)}: {why}",), {"why": why, "missing": missing}, cut_short=True)


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2].replace("_", " ")
