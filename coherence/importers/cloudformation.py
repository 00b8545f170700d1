"""CloudFormation: a template of AWS, also of its Serverless Application Model, in YAML or JSON.

What `Globals` states of functions holds in each that does not state it.  A parameter stands for its default; `!Ref`,
`!GetAtt` and `!Sub` name resources.  A value that a condition or a mapping decides is known when the stack is made, and
is listed.

SOURCE: AWS CloudFormation user guide, Template reference; AWS SAM developer guide, AWS::Serverless::Function, SQS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coherence.importers._aws import KINDS, SPELLING, add_resources
from coherence.importers._aws_gateways import HTTP, REST
from coherence.importers._aws_queues import FUNCTION, MAPPING
from coherence.importers._cloud import Cloud, Resource, list_others
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Node, Scalar, Table

KIND = "CloudFormation"
VARIANTS = True
LOCAL_NAMES = True
RESOURCES, TYPE, PROPERTIES = "Resources", "Type", "Properties"
SERVERLESS = "AWS::Serverless::Function"
GLOBALS = ("Globals", "Function")
EVENTS = {"SQS": (MAPPING, "FunctionName"), "Api": (REST, "Uri"), "HttpApi": (HTTP, "IntegrationUri")}
WIRING = (
    "AWSTemplateFormatVersion", "Description", "Transform", "Parameters", "Metadata", "Mappings", "Conditions", "Rules",
    "Outputs", "Hooks",
)  # fmt: skip
OF_RESOURCE = ("DependsOn", "Metadata", "DeletionPolicy", "UpdateReplacePolicy")
REF = ("Ref", "!Ref")
REFERENCE = re.compile(r"\$\{([A-Za-z0-9]+)(?:\.[A-Za-z0-9.]+)?\}")
__all__ = ["KIND", "LOCAL_NAMES", "SPELLING", "VARIANTS", "add", "recognises"]


def recognises(root: Table) -> bool:
    """Returns whether a document is a template: one of its resources has a type of AWS."""
    resources = root.get(RESOURCES)
    bodies = resources.entries.values() if isinstance(resources, Table) else ()
    return any(isinstance(body, Table) and word(body, TYPE).startswith("AWS::") for body in bodies)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds what the resources of the template are."""
    manifest.top.pass_over(*WIRING)
    template = Template(manifest)
    cloud = Cloud(list(template.resources()))
    add_resources(cloud, sketch)
    list_others(cloud, KINDS, manifest)


@dataclass(frozen=True)
class Template:
    """A template whose parameters stand for their defaults."""

    manifest: Manifest

    def resources(self) -> Iterator[Resource]:
        """Yields the resources, and the mappings that functions of the serverless model state as events."""
        resources = self.manifest.top.table(RESOURCES)
        kinds = {type_: kind for kind, type_ in KINDS.items()}
        for name, body in resources.node.entries.items() if resources else ():
            view = resources.table(name) if resources is not None and isinstance(body, Table) else None
            if resources is None or view is None:
                continue
            view.use(TYPE)
            view.pass_over(*OF_RESOURCE)
            view.remark_all(dict.fromkeys(("Condition", "CreationPolicy", "UpdatePolicy"), "not modelled"))
            type_ = word(view.node, TYPE)
            properties = view.table(PROPERTIES) or FieldView(
                Table({}, {}, view.node.place), view.at(PROPERTIES), self.manifest
            )
            own = Scalar(name, resources.place(name))
            serverless = type_ == SERVERLESS
            properties = self._completed(properties) if serverless else properties
            yield self._resource(FUNCTION if serverless else kinds.get(type_, type_), own, properties)
            if serverless:
                yield from self._events(own, properties)

    def _completed(self, properties: FieldView) -> FieldView:
        """Returns the properties of a function with those that the template states for all of them."""
        common = self.manifest.top.inner(*GLOBALS)
        table = properties.node
        for key, node in common.node.entries.items() if common is not None else ():
            assert common is not None
            common.use(key)
            table = table if key in table else _with(table, key, node)
        return FieldView(table, properties.path, self.manifest)

    def _resource(self, kind: str, name: Scalar, view: FieldView, *more: str) -> Resource:
        return Resource(kind, name, view, self.value, frozenset({name.text, *more}), self.references)

    def _events(self, function: Scalar, properties: FieldView) -> Iterator[Resource]:
        """Yields a mapping for each queue, and an integration for each path, whose events a function takes."""
        events = properties.table("Events") if isinstance(properties.node.get("Events"), Table) else None
        for name, body in events.node.entries.items() if events else ():
            event = events.table(name) if events is not None and isinstance(body, Table) else None
            inner = event.table(PROPERTIES) if event is not None else None
            kind, key = EVENTS.get(word(event.node, TYPE), ("", "")) if event is not None else ("", "")
            if event is None or inner is None or not kind:
                continue
            event.use(TYPE)
            linked = Scalar(function.text, inner.node.place)
            view = FieldView(_with(inner.node, key, linked), inner.path, self.manifest)
            yield self._resource(kind, Scalar(f"{function.text}{name}", inner.node.place), view)

    def value(self, node: Node) -> Node | None:
        """Returns what a value stands for; None where it is known when the stack is made."""
        function = next(iter(node.entries)) if isinstance(node, Table) and len(node.entries) == 1 else ""
        if isinstance(node, Table) and function in REF:
            return self._parameter(word(node, function))
        return None if function.startswith(("Fn::", "!")) else node

    def _parameter(self, name: str) -> Node | None:
        """Returns the default of a parameter; None for what is a resource, and where there is no default."""
        parameters = self.manifest.root.get("Parameters")
        parameter = parameters.get(name) if isinstance(parameters, Table) else None
        default = parameter.get("Default") if isinstance(parameter, Table) else None
        return default if isinstance(default, Scalar) else None

    def references(self, view: FieldView, key: str) -> Sequence[str]:
        """Returns the resources that a value names."""
        return list(_named(view.node.get(key)))


def _with(table: Table, key: str, node: Node) -> Table:
    return Table({**table.entries, key: node}, {**table.keys, key: node.place}, table.place)


def _named(node: Node | None) -> Iterator[str]:
    """Yields the first words of references: `Queue.Arn`, `[Queue, Arn]`, `${Queue.Arn}`, `{Ref: Queue}`."""
    if isinstance(node, Scalar):
        names = REFERENCE.findall(node.text)
        yield from names or [node.text.partition(".")[0]]
    elif isinstance(node, Items):
        for item in node:
            yield from _named(item)
    elif isinstance(node, Table):
        for child in node.entries.values():
            yield from _named(child)
