"""Resources of a cloud, as a Terraform plan and a CloudFormation template write them: one meaning, two spellings.

An attribute is asked for by its name in Terraform (`min_size`, in a template `MinSize`).  A value that is known only
when it is applied is listed and never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import amount, exact, integer, respelled
from coherence.language.document import Items, Node, Scalar, Table

UNKNOWN = "known when it is applied"
SIZE = "whether each apply writes it is not in the file (lifecycle.ignore_changes)"
ELSEWHERE = "what it names does not stand in this file"


@dataclass(frozen=True)
class Resource:
    """A resource, or a block of one.

    `resolve`: what a value stands for.  `identifiers`: by what others name it; `references`: whom an attribute names.
    """

    kind: str
    name: Scalar
    view: FieldView
    resolve: Callable[[Node], Node | None]
    identifiers: frozenset[str]
    references: Callable[[FieldView, str], Sequence[str]]

    def key(self, *names: str) -> str | None:
        """Returns the first of the names that is written, as it is written; a null is not written."""
        spelled = (key for name in names for key in (name, pascal(name)))
        return next((key for key in spelled if key in self.view), None)

    def _node(self, *names: str) -> Node | None:
        """Returns what an attribute stands for; it is listed where that is not known."""
        key = self.key(*names)
        if key is None:
            return None
        node = self.resolve(self.view.node.entries[key])
        if node is None:
            self.view.remark(key, UNKNOWN)
        return node

    def scalar(self, *names: str) -> Scalar | None:
        """Returns a value; None where it is absent, or known only when it is applied."""
        node = self._node(*names)
        key = self.key(*names)
        if key is not None and isinstance(node, Scalar):
            self.view.use(key)
            return node
        if key is not None and node is not None:
            self.view.remark(key, UNKNOWN)
        return None

    def number(self, *names: str) -> Scalar | None:
        """Returns a number of at least 0; any other text is what a reference left, and is listed."""
        stated, key = self.scalar(*names), self.key(*names)
        if stated is None or key is None:
            return None
        value = amount(stated.text)
        if value is None:
            self.view.remark(key, UNKNOWN)
            return None
        return respelled(stated, exact(value))

    def whole(self, *names: str) -> Scalar | None:
        """Returns a whole number."""
        stated = self.number(*names)
        return stated if stated is not None and integer(stated) is not None else None

    def seconds(self, *names: str) -> Scalar | None:
        """Returns a number of seconds, in the language's spelling."""
        stated = self.number(*names)
        return respelled(stated, f"{stated.text} s") if stated is not None else None

    def is_true(self, *names: str) -> bool:
        """Returns whether a switch is on."""
        stated = self.scalar(*names)
        return stated is not None and stated.text.lower() == "true"

    def remark(self, name: str, why: str) -> None:
        """Says why an attribute, if it is there, is not modelled."""
        if (key := self.key(name)) is not None:
            self.view.remark(key, why)

    def remark_all(self, reasons: Mapping[str, str]) -> None:
        """Says of each of these attributes that is there why it is not modelled."""
        for name, why in reasons.items():
            self.remark(name, why)

    def pass_over(self, *names: str) -> None:
        """Lists attributes, if they are there, among the names and wiring."""
        self.view.pass_over(*(key for name in names if (key := self.key(name)) is not None))

    def blocks(self, *names: str) -> list[Resource]:
        """Returns the blocks under a name: one, or those of a list."""
        key, node = self.key(*names), self._node(*names)
        if key is None:
            return []
        path, manifest = self.view.at(key), self.view.manifest
        several = list(node) if isinstance(node, Items) else [node]
        views = [
            FieldView(item, f"{path}[{number}]" if isinstance(node, Items) else path, manifest)
            for number, item in enumerate(several)
            if isinstance(item, Table)
        ]
        return [replace(self, view=view) for view in views]

    def block(self, *names: str) -> Resource | None:
        """Returns the one block under a name."""
        return next(iter(self.blocks(*names)), None)

    def names_of(self, *names: str) -> Sequence[str]:
        """Returns by what an attribute names other resources; one without a value yet has an expression."""
        key = self.key(*names)
        keys = (key,) if key is not None else names
        self.view.use(*keys)
        return [name for key in keys for name in self.references(self.view, key)]

    def named(self, cloud: Cloud, kinds: Sequence[str], *names: str) -> Resource | None:
        """Returns the one resource of some kinds that attributes name; they are listed where there is none."""
        other = cloud.named([known for name in names for known in self.names_of(name)], *kinds)
        for name in names if other is None else ():
            self.view.remark(self.key(name) or name, ELSEWHERE)
        return other


@dataclass
class Cloud:
    """All resources of one file."""

    resources: list[Resource] = field(default_factory=list)

    def all(self, *kinds: str) -> Iterator[Resource]:
        """Yields the resources of some kinds."""
        return (resource for resource in self.resources if resource.kind in kinds)

    def named(self, names: Sequence[str], *kinds: str) -> Resource | None:
        """Returns the one resource of these kinds that is named so; a name of several says nothing."""
        same = [[resource for resource in self.all(*kinds) if name in resource.identifiers] for name in names]
        alone = {named[0].name.text: named[0] for named in same if len(named) == 1}
        return next(iter(alone.values())) if len(alone) == 1 else None


def pascal(name: str) -> str:
    """`min_size` -> `MinSize`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def list_others(cloud: Cloud, known: Collection[str], manifest: Manifest) -> None:
    """Lists how many resources there are of each kind that is not known."""
    counts: dict[str, list[Resource]] = {}
    for resource in cloud.resources:
        if resource.kind not in known:
            counts.setdefault(resource.kind, []).append(resource)
            manifest.used.add(resource.view.path)
    for kind, several in counts.items():
        words = f"{manifest.title}: {len(several)} {kind} (this kind is not modelled)"
        manifest.remarks.append((several[0].name.place, words))
