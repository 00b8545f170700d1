"""Gathers what elaboration makes of a design, before it is a model."""

from __future__ import annotations

from dataclasses import dataclass, field

from coherence.base.places import Place
from coherence.base.reads import ReadTable
from coherence.language.design import Design
from coherence.language.expressions.tree import Name, Number, Tree, rename
from coherence.language.schema_kinds import Formula, Quantity, Reading
from coherence.model.model import Command, Constant, Gap, State, interval


@dataclass(slots=True)
class ModelDraft:
    """The states, commands, constants and outputs gathered so far, with the problems and gaps that were met."""

    design: Design
    states: dict[str, State] = field(default_factory=dict)
    commands: dict[str, Command] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    outputs: ReadTable[Tree] = field(default_factory=ReadTable)
    places: dict[str, Place] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    abstractions: list[str] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    index: dict[str, str] = field(default_factory=dict)

    def gap(self, of: str, needs: str, place: Place) -> None:
        """Notes what a question about `of` would need."""
        self.gaps.append(Gap(of, needs, place))

    def constant(self, path: str, value: Quantity) -> None:
        """Adds a constant that is a value or a range of the text."""
        also: tuple[Place, ...] = getattr(value, "also", ())
        self.constants[path] = Constant(path, interval(value), value.varies, value.dimension, value.place, also)

    def resolved(self, tree: Tree) -> Tree:
        """Returns the tree with full paths for bare names."""
        return rename(tree, lambda path: self.index.get(path, path))

    def tree_of(self, value: object) -> Tree | None:
        """Returns a value of the text as a tree; a range becomes a constant named after its place."""
        if isinstance(value, Formula):
            return self.resolved(value.tree)
        if isinstance(value, Quantity) and value.exact:
            return Number(value.low, value.dimension)
        if isinstance(value, Quantity):
            path = f"<{value.place}>"
            self.constant(path, value)
            return Name(path)
        return None
