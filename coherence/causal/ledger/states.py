"""Lists the states of a device, each in one loss type, in the order of precedence that makes them exclusive.

Every module of `losses/` declares LOSS; its docstring is the page of the type.  No list is edited: a new file is found
by the package walk, and a letter or state that is claimed twice is an error naming both modules.

Where a device is in two states at once, the first of this order counts: held states by the order of their types
(recovery, orchestration, retrieval, synchronisation, memory, other), `useful`, held without a known reason, idle
states, nothing known.  SOURCE: definitions.md 1.5.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from coherence.base.errors import InternalError

FOLDER = "coherence.causal.losses"
USEFUL = "useful"
SLACK = "idle_slack"
SLOWED = "slowed"
MISPLACEMENT = "misplacement"
UNLABELLED = "unlabelled"
KINDS = ("held", USEFUL, "rest", "idle", "unknown")  # in the order of precedence


@dataclass(frozen=True)
class DeviceState:
    """`kind`: held (the device is taken), rest (taken, no reason known), idle (free) or unknown."""

    name: str
    words: str
    kind: str = "held"


@dataclass(frozen=True)
class LossType:
    """One type of loss: its letter, the states that show it, and where the type comes from.

    `order`: its turn in the precedence.  `structural`: whether coordination could win it back.
    """

    letter: str
    name: str
    order: int
    states: tuple[DeviceState, ...]
    words: str
    source: str
    structural: bool = True


@dataclass(frozen=True)
class LossEntry:
    """A loss type with its page and the module that declares it."""

    loss: LossType
    page: str
    module: str


@dataclass(frozen=True)
class Column:
    """One exclusive state as a column of a ledger; `letter` is empty for `useful` and `idle_slack`, which are none."""

    name: str
    letter: str
    kind: str
    words: str

    @property
    def held(self) -> bool:
        """Whether the device was taken; what nothing is known of counts as taken."""
        return self.kind != "idle"


@cache
def entries() -> Mapping[str, LossEntry]:
    """Every loss type by letter, in the order of precedence.  Raises InternalError where two claim one name."""
    package = importlib.import_module(FOLDER)
    states: dict[str, LossEntry] = {}
    owner: dict[str, str] = {USEFUL: __name__, SLACK: __name__, MISPLACEMENT: __name__}
    for info in pkgutil.iter_modules(package.__path__, FOLDER + "."):
        module = importlib.import_module(info.name)
        loss: LossType = module.LOSS
        for claimed in (loss.letter, *(state.name for state in loss.states)):
            if claimed in owner:
                raise InternalError(f"'{claimed}' is claimed by {owner[claimed]} and {module.__name__}")
            owner[claimed] = module.__name__
        states[loss.letter] = LossEntry(loss, inspect.cleandoc(module.__doc__ or ""), module.__name__)
    ordered = sorted(states.values(), key=lambda entry: entry.loss.order)
    return MappingProxyType({entry.loss.letter: entry for entry in ordered})


@cache
def losses() -> tuple[LossType, ...]:
    """Every loss type, in the order of precedence."""
    return tuple(entry.loss for entry in entries().values())


@cache
def columns() -> tuple[Column, ...]:
    """Every exclusive state in the order of precedence; `useful` stands for one column a class."""
    every = [Column(s.name, loss.letter, s.kind, s.words) for loss in losses() for s in loss.states]
    every.append(Column(USEFUL, "", USEFUL, "work finished in time, first result, used"))
    every.append(Column(SLACK, "", "idle", "idle with no eligible work anywhere: demand, not a loss"))
    return tuple(sorted(every, key=lambda column: KINDS.index(column.kind)))
