"""Finds the workload behind an address, and the one that runs a configuration: from all manifests, before any is added.

A Service that selects the pods of one workload is that workload, and so is each pod that its DNS names.  The workload
that mounts a ConfigMap, or the service of a compose file that mounts a file, runs the proxy that is configured there; a
folder that is mounted holds a configuration of the program that the path in the container names.  What several
workloads may be is none of them, and is listed.

SOURCE: Kubernetes documentation, DNS for Services and Pods; core/v1 ServiceSpec, ConfigMapVolumeSource; Compose
Specification, services (container_name, networks.aliases), volumes, configs: a path that begins with a dot is relative
to the compose file; the project of a compose file is its folder where nothing else is said.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.base.places import Place
from coherence.importers._kubernetes import Manifest, texts, word
from coherence.importers._names import PROJECT, NamedWorkload, may_reach
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Node, Scalar, Table

Labels = Mapping[str, str]
Labelled = Mapping[tuple[str, str], Sequence[tuple[NamedWorkload, Labels]]]
COMPOSE = "Compose"
HERE = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104 (what is compared, not what is bound)


def note_addresses(manifests: Sequence[Manifest], sketch: Sketch) -> None:
    """Notes which names stand for which workload, and what runs which configuration."""
    known = sketch.names.addresses
    labelled: dict[tuple[str, str], list[tuple[NamedWorkload, Labels]]] = {}
    for manifest in manifests:
        for workload, pod, labels in _workloads(manifest):
            known.workloads.setdefault(workload.name, []).append((workload.namespace, workload))
            for label in labels.items():
                labelled.setdefault(label, []).append((workload, labels))
            for source in _mounted(pod):
                known.runners.setdefault(f"ConfigMap {source}", []).append((workload.namespace, workload))
    for manifest in manifests:
        if manifest.kind == "Service":
            _note_service(manifest, labelled, sketch)
        elif manifest.kind == COMPOSE:
            _note_project(manifest, sketch)


def _note_service(manifest: Manifest, labelled: Labelled, sketch: Sketch) -> None:
    """Notes a Service: the workload whose pods it selects, a name elsewhere, or a thing of its own."""
    known, (name, namespace) = sketch.names.addresses, (manifest.name.text, manifest.namespace)
    itself = NamedWorkload(manifest.kind, namespace, name)
    spec = _inner(manifest.root, "spec")
    wanted = texts(_inner(spec, "selector"))
    near: Sequence[tuple[NamedWorkload, Labels]] = ()
    if word(spec, "type") == "ExternalName" and (elsewhere := word(spec, "externalName")):
        known.elsewhere[itself] = elsewhere
    elif wanted:
        near = min((labelled.get(label, ()) for label in wanted.items()), key=len)
    chosen = [of for of, labels in near if wanted.items() <= labels.items() and may_reach(namespace, of.namespace)]
    if len(chosen) > 1:
        others = ", ".join(of.name for of in chosen)
        known.doubts[itself] = f"it selects the pods of {others}: it is joined with none of them"
    workload = chosen[0] if len(chosen) == 1 else itself
    for address in (name, word(spec, "clusterIP")):
        if address not in ("", "None"):
            known.services.setdefault(address, []).append((namespace, workload))


def _workloads(manifest: Manifest) -> Iterator[tuple[NamedWorkload, Table, Labels]]:
    """Yields what an object that nothing else makes says of pods: its name, their specification, their labels."""
    root = manifest.root
    template = root if manifest.kind == "Pod" else _inner(root, "spec", "template")
    pod, labels = _inner(template, "spec"), texts(_inner(template, "metadata", "labels"))
    if "containers" in pod and "ownerReferences" not in manifest.metadata:
        yield NamedWorkload(manifest.kind, manifest.namespace, manifest.name.text), pod, labels


def _mounted(pod: Table) -> Iterator[str]:
    """Yields the ConfigMaps whose files a pod sees."""
    for volume in _tables(pod.get("volumes")):
        sources = [volume, *_tables(_inner(volume, "projected").get("sources"))]
        yield from (name for source in sources if (name := word(_inner(source, "configMap"), "name")))


def project_of(manifest: Manifest) -> str:
    """Returns what stands for the namespace of the services of a compose file."""
    return f"{PROJECT}{posixpath.dirname(posixpath.normpath(manifest.file))}"


def _note_project(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the services of a compose file under all their names, with the files that their containers see."""
    known, project = sketch.names.addresses, project_of(manifest)
    files = {name: word(table, "file") for name, table in _named_tables(_inner(manifest.root, "configs"))}
    for name, service in _named_tables(_inner(manifest.root, "services")):
        workload = NamedWorkload(COMPOSE, project, name)
        for address in dict.fromkeys((name, *_other_names(service))):
            known.services.setdefault(address, []).append((project, workload))
        for path, inside in [*_bound(service), *_configured(service, files)]:
            where = posixpath.normpath(posixpath.join(posixpath.dirname(manifest.file), path))
            known.runners.setdefault(where, []).append((inside, workload))


def _other_names(service: Table) -> Iterator[str]:
    for key in ("container_name", "hostname"):
        if stated := word(service, key):
            yield stated
    for _, network in _named_tables(_inner(service, "networks")):
        aliases = network.get("aliases")
        yield from (alias.text for alias in aliases if isinstance(alias, Scalar)) if isinstance(aliases, Items) else ()


def _bound(service: Table) -> Iterator[tuple[str, str]]:
    """Yields each path beside the compose file that a container sees, and where it sees it."""
    volumes = service.get("volumes")
    for volume in volumes if isinstance(volumes, Items) else ():
        if isinstance(volume, Table):
            path, inside = word(volume, "source"), word(volume, "target")
        else:
            path, _, inside = volume.text.partition(":") if isinstance(volume, Scalar) else ("", "", "")
        if path.startswith((".", "/")):
            yield path, inside.partition(":")[0]


def _configured(service: Table, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields the files that a container sees as `configs`."""
    used = service.get("configs")
    for use in used if isinstance(used, Items) else ():
        name = word(use, "source") if isinstance(use, Table) else use.text if isinstance(use, Scalar) else ""
        if files.get(name):
            yield files[name], word(use, "target") if isinstance(use, Table) else f"/{name}"


@dataclass(frozen=True)
class RunningProxy:
    """The thing that runs a configuration, and the namespace in which it asks for hosts (None: not known)."""

    thing: Scalar
    namespace: str | None


def runner_of(manifest: Manifest, name: Scalar, sketch: Sketch) -> RunningProxy:
    """Returns what runs the configuration of a proxy.

    It is the one workload that mounts the configuration, else a thing of its own for each file, by a name; which is
    listed where there are workloads.
    """
    namespace: str | None
    names, mounting = sketch.names, dict.fromkeys(_runners(manifest, sketch))
    if len(mounting) == 1:
        (runner,) = mounting
        thing, namespace = names.workload(runner), runner.namespace
    else:
        file = manifest.file if manifest.outer is None else ""
        thing = names.thing(name.text, manifest.namespace, manifest.kind, file=file)
        namespace = manifest.namespace if manifest.outer is not None else None
    if len(mounting) != 1 and (names.addresses.workloads or names.addresses.services):
        who = ", ".join(of.name for of in mounting)
        why = f"{who} mount it: it is joined with none of them" if mounting else "no workload here mounts it"
        sketch.not_modelled.append((name.place, f"what runs {manifest.title} ({why})"))
    sketch.mention(thing, name.place, f"{manifest.kind} of {manifest.file}")
    sketch.routers.add(thing)
    return RunningProxy(respelled(name, thing), namespace)


def _runners(manifest: Manifest, sketch: Sketch) -> Iterator[NamedWorkload]:
    """Yields the workloads that mount a ConfigMap or a file, or a folder of it as that of the program."""
    known = sketch.names.addresses.runners
    if manifest.outer is not None:
        mounts = known.get(f"ConfigMap {manifest.outer.name.text}", ())
        yield from (of for where, of in mounts if may_reach(where, manifest.namespace))
        return
    path = posixpath.normpath(manifest.file)
    exact = [of for _, of in known.get(path, ())]
    yield from exact
    folder = posixpath.dirname(path)
    while not exact and folder not in ("", "/"):
        exact = [of for inside, of in known.get(folder, ()) if manifest.kind.lower() in inside]
        yield from exact
        folder = posixpath.dirname(folder)


def target_of(servers: Sequence[str], group: Scalar, proxy: RunningProxy, sketch: Sketch, *, kind: str) -> str:
    """Returns the thing that a group of servers is: the one behind all their hosts, else one named by the group.

    What a proxy passes on to itself is named by the group too: the servers beside it in its own pod.
    """
    names, known = sketch.names, sketch.names.addresses
    hosts = list(dict.fromkeys(map(_without_port, servers)))
    askers = {
        host: proxy.namespace if _is_name(host) else None for host in hosts
    }  # an address is one in every namespace
    answered = {host: known.behind(host, where) is not None for host, where in askers.items()}
    reached = {names.host(host, where) if _is_name(host) or answered[host] else "" for host, where in askers.items()}
    thing = next(iter(reached)) if len(reached) == 1 else ""
    if thing in ("", proxy.thing.text):
        thing = names.thing(group.text, "", f"{kind} of {proxy.thing.text}")
        others = [host for host in hosts if host not in HERE and not (_is_name(host) and len(reached) == 1)]
        if others and (known.workloads or known.services) and (any(answered.values()) or not any(map(_is_name, hosts))):
            names.doubts[thing] = f"its servers are {', '.join(hosts)}: it is joined with no workload"
    sketch.mention(thing, group.place, f"{kind} {group.text}")
    return thing


def _without_port(server: str) -> str:
    """`web:8080` -> `web`, `[::1]:80` -> `::1`."""
    bracketed = re.match(r"\[([^]]*)\]", server)
    return bracketed[1] if bracketed else server.partition(":")[0] if server.count(":") == 1 else server


def _is_name(host: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9._-]*[A-Za-z][A-Za-z0-9._-]*", host) is not None and host not in HERE


def _inner(node: Node | None, *keys: str) -> Table:
    """Returns the mapping under a chain of keys; empty where there is none."""
    for key in keys:
        node = node.get(key) if isinstance(node, Table) else None
    return node if isinstance(node, Table) else Table({}, {}, Place("", 1, 1, 1, 1))


def _tables(node: Node | None) -> list[Table]:
    return [item for item in node if isinstance(item, Table)] if isinstance(node, Items) else []


def _named_tables(table: Table) -> list[tuple[str, Table]]:
    return [(name, node) for name, node in table.entries.items() if isinstance(node, Table)]
