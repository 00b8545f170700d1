"""AwsConfig: the shared configuration of AWS SDKs and tools (`.aws/config`): how often each profile tries a request.

`max_attempts` counts the first try too.  Where no mode is written the SDK decides, and its tries alone are taken.  No
value of another key is shown: some are credentials.

SOURCE: AWS SDKs and Tools reference guide, Retry behavior: retry_mode, max_attempts; defaults of the modes are in the
parts sdk_retry and sdk_retry_legacy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Document, Scalar, Table

KIND = "AwsConfig"
VARIANTS = True
LOCAL_NAMES = True
SUFFIX = ".aws/config"
SPELLING = {"tries": "max_attempts"}
ROOT = "profiles"
MODE, TRIES = "retry_mode", "max_attempts"
PARTS = {"standard": "sdk_retry", "adaptive": "sdk_retry", "legacy": "sdk_retry_legacy"}
SECTION = re.compile(r"\s*\[\s*(?:profile\s+)?[\"']?([^\]\"']*?)[\"']?\s*\]\s*(?:[#;].*)?")
LINE = re.compile(r"([^\s=#;][^=]*?)\s*=\s*(.*?)\s*(?:\s[#;].*)?")


def read(text: str, file: str) -> Document:
    """Returns the profiles of a file, each value at its line; lines that are indented belong to the key above."""
    whole = Place(file, 1, 1, 1, 1)
    profiles, table, key = Table({}, {}, whole), Table({}, {}, whole), ""
    for number, line in enumerate(text.splitlines(), 1):
        at = Place(file, number, 1, number, len(line) + 1)
        head, match = SECTION.fullmatch(line), LINE.fullmatch(line.strip())
        if head is not None:
            table, key = Table({}, {}, at), ""
            profiles.entries[head[1]], profiles.keys[head[1]] = table, at
        elif match is not None and line[:1].isspace() and key:
            _put(_inner(table, key, at), match, at)
        elif match is not None:
            key = match[1]
            _put(table, match, at)
    return Document(Table({ROOT: profiles}, {ROOT: whole}, whole), file, text)


def _inner(table: Table, key: str, at: Place) -> Table:
    """Returns the mapping under a key, whose own value is empty."""
    if not isinstance(table.entries[key], Table):
        table.entries[key] = Table({}, {}, at)
    inner = table.entries[key]
    assert isinstance(inner, Table)
    return inner


def _put(table: Table, match: re.Match[str], at: Place) -> None:
    table.entries[match[1]], table.keys[match[1]] = Scalar(match[2], at), at


def recognises(root: Table) -> bool:
    """Returns whether a document holds profiles."""
    return root.place.file.endswith(SUFFIX) and isinstance(root.get(ROOT), Table)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the calls to AWS of each profile that says how they are tried."""
    for name, profile in _profiles(manifest):
        profile.pass_over(*(key for key in profile.node.entries if key not in (MODE, TRIES, "defaults_mode", "s3")))
        mode, tries = profile.scalar(MODE), profile.whole(TRIES, least=1)
        profile.remark("defaults_mode", "times to connect, which depend on the region")
        if mode is not None and mode.text == "adaptive":
            profile.manifest.remarks.append(
                (mode.place, f"{manifest.title}: {profile.at(MODE)} (its limit on the rate is not modelled)")
            )
        if mode is not None and mode.text not in PARTS:
            profile.problem(mode.place, f"{profile.at(MODE)} is no mode", "write standard, adaptive or legacy")
            continue
        stated = mode or tries
        if stated is not None:
            _call(name, stated, PARTS[mode.text] if mode is not None else "", tries, sketch)


def _profiles(manifest: Manifest) -> Iterator[tuple[str, FieldView]]:
    view = manifest.top.table(ROOT)
    for name in view.node.entries if view is not None else ():
        profile = view.table(name) if view is not None else None
        if profile is not None:
            yield name, profile


def _call(name: str, stated: Scalar, part: str, tries: Scalar | None, sketch: Sketch) -> None:
    """Adds the call of one profile."""
    client, service = sketch.names.thing(name, "", "profile"), sketch.names.thing("aws", "", "cloud")
    sketch.mention(client, stated.place, f"clients with the profile {name}")
    sketch.mention(service, stated.place, "services of AWS")
    ends = {"from": respelled(stated, client), "to": respelled(stated, service)}
    uses = respelled(stated, part) if part else None
    sketch.calls.append(entry(stated.place, {**ends, "uses": uses, "tries": tries}))
