"""Lists what no importer read: the highest keys below which nothing was used; names and wiring in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from coherence.base.places import Place
from coherence.importers._kubernetes import Manifest
from coherence.language.document import Items, Node, Scalar, Table

QUIET = re.compile(
    r"(metadata|status)(\..*)?|spec\.template\.metadata(\..*)?|(.*\.)?("
    "labels|annotations|selector|image|imagePullPolicy|imagePullSecrets|ports|volumes|volumeMounts|volumeDevices|"
    "securityContext|serviceAccount|serviceAccountName|automountServiceAccountToken|terminationMessagePath|"
    "terminationMessagePolicy|hostname|subdomain|dnsPolicy|dnsConfig|enableServiceLinks|workingDir|tty|stdin|"
    "stdinOnce|exportTo|gateways|hosts|headers|match|rewrite|serverAddress|authenticationRef|revisionHistoryLimit)"
)


def unread(manifest: Manifest) -> Iterator[tuple[Place, str]]:
    """Yields one line for each, in the order of the file."""
    above = set(_above(manifest.used | manifest.wiring))
    unread_nodes = list(_walk(manifest.root, "", manifest.used, above))
    quiet = [(place, path) for place, path in unread_nodes if path in manifest.wiring or _is_quiet(path)]
    names = set(quiet)
    if quiet:
        paths = ", ".join(dict.fromkeys(re.sub(r"\[\d+\]", "", path) for _, path in quiet))
        yield quiet[0][0], f"{manifest.title}: {paths} (names, labels and wiring: not about control)"
    for place, path in unread_nodes:
        if (place, path) not in names:
            yield place, f"{manifest.title}: {path}"


def _is_quiet(path: str) -> bool:
    return QUIET.fullmatch(re.sub(r"\[\d+\]", "", path)) is not None


def _above(paths: Iterable[str]) -> Iterator[str]:
    """Yields every path that leads to one of these."""
    for path in paths:
        yield from (path[:at] for at, letter in enumerate(path) if letter in ".[")


def _walk(node: Node, path: str, used: set[str], above: set[str]) -> Iterator[tuple[Place, str]]:
    """Yields the highest unread paths below a node."""
    for name, child, place in _children(node, path):
        if name in used or (isinstance(child, Scalar) and child.is_null()):
            continue
        if name in above:
            yield from _walk(child, name, used, above)
        else:
            yield place, name


def _children(node: Node, path: str) -> Iterator[tuple[str, Node, Place]]:
    if isinstance(node, Table):
        for key, child in node.entries.items():
            yield (f"{path}.{key}" if path else key), child, node.key_place(key)
    elif isinstance(node, Items):
        for number, child in enumerate(node):
            yield f"{path}[{number}]", child, child.place
