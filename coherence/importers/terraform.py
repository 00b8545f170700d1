"""Terraform: a plan, or a state, as `terraform show -json` prints it.

What is known before an apply stands in `planned_values`, and what refers to what in `configuration`.  Resources of
Kubernetes are read as the objects that they are.

SOURCE: Terraform documentation, JSON Output Format 1.2: planned_values, configuration; a block is a list of objects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.importers import _aws, _azure_scaling, _google_scaling
from coherence.importers import _hcl_objects as objects
from coherence.importers._cloud import Cloud, Resource, list_others
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Node, Scalar, Table

KIND = "Terraform"
VARIANTS = True
LOCAL_NAMES = True
SPELLING = _aws.SPELLING
PROVIDERS = (_aws, _azure_scaling, _google_scaling)
VALUES = ("planned_values", "values")
IDENTIFIERS = ("arn", "id", "self_link", "instance_group", "url", "name", "function_name", "resource_id")
IGNORED = "whether each apply writes them is not in a plan: lifecycle.ignore_changes"
INDEX = re.compile(r"\[[^\]]*\]$")
WIRING = (
    "format_version", "terraform_version", "prior_state", "configuration", "resource_changes", "variables", "outputs",
    "output_changes", "relevant_attributes", "checks", "timestamp", "applyable", "complete", "errored",
    "resource_drift", "proposed_unknown", "action_invocations", "deferred_changes",
)  # fmt: skip
OF_RESOURCE = (
    "mode", "name", "index", "provider_name", "schema_version", "sensitive_values", "depends_on", "identity",
    "identity_schema_version", "tainted", "deposed_key",
)  # fmt: skip
Expressions = Mapping[str, Table]


def recognises(root: Table) -> bool:
    """Returns whether a document is a plan or a state."""
    values = next((root.get(key) for key in VALUES if key in root), None)
    return "format_version" in root and isinstance(values, Table) and isinstance(values.get("root_module"), Table)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds what the resources are."""
    manifest.top.pass_over(*WIRING)
    resources = [_resource(item) for item in _planned(manifest) if not objects.is_object(item.type)]
    cloud = Cloud(resources)
    for provider in PROVIDERS:
        provider.add_resources(cloud, sketch)
    list_others(cloud, {kind for provider in PROVIDERS for kind in provider.KINDS}, manifest)


def states(manifest: Manifest) -> Iterator[Node]:
    """Yields the objects of Kubernetes."""
    planned = [item for item in _planned(manifest) if objects.is_object(item.type)]
    tables = [(item, objects.object_of(item.type, item.values)) for item in planned]
    scaled = {name for _, table in tables if table is not None for name in objects.scaled_by(table)}
    for item, table in tables:
        if table is not None:
            replicas = objects.without_replicas(table) if objects.name_of(table) in scaled else None
            if replicas is not None:
                manifest.remarks.append((replicas, f"{item.address.text}: replicas ({IGNORED})"))
            yield table


@dataclass(frozen=True)
class Planned:
    """A resource of a plan, with the expressions of its configuration."""

    type: str
    address: Scalar
    values: FieldView
    expressions: Table | None
    module: str


def _planned(manifest: Manifest) -> list[Planned]:
    """Returns the resources of all modules; those that are only read are left out."""
    values = next((view for key in VALUES if (view := manifest.top.table(key)) is not None), None)
    root = values.table("root_module") if values is not None else None
    if values is not None:
        values.pass_over("outputs")
    expressions = dict(_expressions(manifest.root))
    return list(_of_module(root, "", expressions)) if root is not None else []


def _of_module(module: FieldView, prefix: str, expressions: Expressions) -> Iterator[Planned]:
    module.pass_over("address")
    for item in module.tables("resources"):
        address, values = item.scalar("address"), item.table("values")
        item.use("type")
        item.pass_over(*OF_RESOURCE)  # fmt: skip
        if address is None or values is None or word(item.node, "mode") == "data":
            item.pass_over("values")
            continue
        own = expressions.get(_bare(address.text))
        yield Planned(word(item.node, "type"), address, values, own, prefix)
    for child in module.tables("child_modules"):
        yield from _of_module(child, word(child.node, "address"), expressions)


def _bare(address: str) -> str:
    """Returns an address without what `count` and `for_each` add."""
    return re.sub(r"\[(?:\"[^\"]*\"|[0-9]+)\]", "", address)


def _expressions(root: Table) -> Iterator[tuple[str, Table]]:
    """Yields the expressions of each resource of the configuration by its address."""
    configuration = root.get("configuration")
    module = configuration.get("root_module") if isinstance(configuration, Table) else None
    yield from _of_configuration(module, "")


def _of_configuration(module: Node | None, prefix: str) -> Iterator[tuple[str, Table]]:
    if not isinstance(module, Table):
        return
    resources, calls = module.get("resources"), module.get("module_calls")
    for item in resources if isinstance(resources, Items) else ():
        expressions = item.get("expressions") if isinstance(item, Table) else None
        if isinstance(item, Table) and isinstance(expressions, Table):
            yield f"{prefix}{word(item, 'address')}", expressions
    for name, call in calls.entries.items() if isinstance(calls, Table) else ():
        if isinstance(call, Table):
            yield from _of_configuration(call.get("module"), f"{prefix}module.{name}.")


def _resource(item: Planned) -> Resource:
    """Returns a resource, which others name by its address or by what it is known by."""
    texts = [node.text for key in IDENTIFIERS if isinstance(node := item.values.node.get(key), Scalar)]
    address = item.address.text
    item.values.pass_over("tags", "tags_all", "arn", "id", "url", "region", "timeouts", "name_prefix")
    known = frozenset({address, _bare(address), *filter(None, texts)})
    name = Scalar(address.rpartition(f"{item.type}.")[2] or address, item.address.place)
    return Resource(item.type, name, item.values, _itself, known, _References(item))


@dataclass(frozen=True)
class _References:
    """Whom the attributes of a resource name: by its value, else by its expression."""

    item: Planned

    def __call__(self, view: FieldView, key: str) -> Sequence[str]:
        names = list(_texts(view.node.get(key)))
        expression = _expression(self.item.expressions, view.path.removeprefix(self.item.values.path), key)
        prefix = f"{_bare(self.item.module)}." if self.item.module else ""
        index = INDEX.search(self.item.address.text)
        for reference in expression:
            whole = prefix + ".".join(_bare(reference).split(".")[:2])
            names += [f"{whole}{index[0]}" if index else whole, whole]
        return names


def _expression(expressions: Table | None, path: str, key: str) -> list[str]:
    """Returns the references of an attribute below a path such as `.default_action[0]`."""
    node: Node | None = expressions
    for step in [*re.findall(r"[^.\[\]]+", path), key]:
        if isinstance(node, Items) and step.isdecimal():
            node = node.items[int(step)] if int(step) < len(node) else None
        elif isinstance(node, Items):
            node = node.items[0].get(step) if len(node) and isinstance(node.items[0], Table) else None
        else:
            node = node.get(step) if isinstance(node, Table) else None
    references = node.get("references") if isinstance(node, Table) else None
    return [item.text for item in references if isinstance(item, Scalar)] if isinstance(references, Items) else []


def _itself(node: Node) -> Node | None:
    return node


def _texts(node: Node | None) -> Iterator[str]:
    if isinstance(node, Scalar) and not node.is_null():
        yield node.text
    for item in node if isinstance(node, Items) else ():
        yield from _texts(item)
