"""Reads how to log in at a Prometheus from a file in the format that Prometheus itself uses (`--http-config FILE`).

SOURCE: Prometheus documentation, configuration: `<http_config>`, as `promtool --http.config.file` reads it.
"""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.causal.telemetry.bounded_http import login_word
from coherence.causal.telemetry.secrets_hidden import SHORTEST_WORD, parts_of
from coherence.language.document import Items, Node, Scalar, Table, read
from coherence.language.reading import read_bytes

# What is read; every other key is refused, so that no part of a login is silently left out.
KEYS: Mapping[str, tuple[str, ...]] = {
    "": ("authorization", "basic_auth", "http_headers", "tls_config"),
    "authorization": ("type", "credentials", "credentials_file"),
    "basic_auth": ("username", "username_file", "password", "password_file"),
    "tls_config": ("ca_file", "cert_file", "key_file", "insecure_skip_verify"),
}
HEADER_KEYS = ("values", "secrets", "files")
LONGEST = 65_536  # bytes of a file with a secret


@dataclass(frozen=True)
class HttpLogin:
    """Headers of every request, and how TLS checks the server (None: as the system does)."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tls: ssl.SSLContext | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)


NO_LOGIN = HttpLogin()


def http_login(file: str | None) -> HttpLogin:
    """Returns the login of a file.  Raises InputError with the place, never with a secret, and UsageError."""
    if file is None:
        return NO_LOGIN
    path = Path(file)
    documents = read(read_bytes(file, file), file)
    root = documents[0].root if len(documents) == 1 else None
    if not isinstance(root, Table):
        raise UsageError(f"--http-config {file} is no mapping: write for example 'authorization: {{credentials: ...}}'")
    _refuse_unknown(root, "")
    headers = dict(_headers(root, path.parent))
    tls = _tls(_table(root, "tls_config"), path.parent)
    return HttpLogin(headers, tls, tuple(_secrets_of(root, headers, path.parent)))


def _secrets_of(root: Table, headers: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Yields what no message may show: passwords, credentials, each value of a header but short `values`."""
    basic, bearer, others = (_table(root, key) for key in ("basic_auth", "authorization", "http_headers"))
    if basic is not None:
        yield _secret(basic, "password", folder)
        yield login_word(headers["Authorization"])
    if bearer is not None:
        yield from parts_of(_secret(bearer, "credentials", folder))
    for node in others.entries.values() if others is not None else ():
        for key, value in _values(node, folder):
            yield from (part for part in parts_of(value) if key != "values" or len(part) >= SHORTEST_WORD)


def _headers(root: Table, folder: Path) -> Iterator[tuple[str, str]]:
    basic, bearer, others = (_table(root, key) for key in ("basic_auth", "authorization", "http_headers"))
    if basic is not None and bearer is not None:
        raise _wrong(bearer, "basic_auth and authorization exclude each other", "keep one of the two")
    if basic is not None:
        words = f"{_secret(basic, 'username', folder)}:{_secret(basic, 'password', folder)}"
        yield "Authorization", f"Basic {b64encode(words.encode()).decode()}"
    if bearer is not None:
        kind = bearer.get("type")
        word = _text(kind) if kind is not None else "Bearer"
        yield "Authorization", _line(bearer, f"{word} {_secret(bearer, 'credentials', folder)}")
    for name, node in others.entries.items() if others is not None else ():
        if not name.isascii() or not name.replace("-", "").isalnum():
            raise _wrong(node, "a name of a header has letters, digits and -", "for example X-Scope-OrgID")
        yield name, _line(node, ", ".join(value for _, value in _values(node, folder)))


def _values(node: Node, folder: Path) -> Iterator[tuple[str, str]]:
    """Yields the values of one header, those of files included, with the key of each."""
    if not isinstance(node, Table):
        raise _wrong(node, "a header is a mapping", f"write one of {', '.join(HEADER_KEYS)}, for example values: [a]")
    for key, items in node.entries.items():
        if key not in HEADER_KEYS or not isinstance(items, Items):
            raise _wrong(node, "a header has lists", f"write {', '.join(HEADER_KEYS)}")
        yield from ((key, _file(item, folder) if key == "files" else _text(item)) for item in items)


def _secret(table: Table, key: str, folder: Path) -> str:
    """Returns a value that stands in the file, or in one that it names."""
    here, there = table.get(key), table.get(f"{key}_file")
    if (here is None) == (there is None):
        raise _wrong(table, f"one of {key} and {key}_file is needed", "give one of the two")
    return _text(here) if here is not None else _file(there, folder)


def _file(node: Node | None, folder: Path) -> str:
    path = folder / _text(node)
    try:
        with path.open("rb") as file:
            return file.read(LONGEST).decode().strip()
    except (OSError, ValueError):
        raise _wrong(node, f"{path} is no file of text that can be read", "name the file of the secret") from None


def _tls(table: Table | None, folder: Path) -> ssl.SSLContext | None:
    if table is None:
        return None
    files = {key: str(folder / _text(table.get(key))) for key in table.entries if key.endswith("_file")}
    skip = table.get("insecure_skip_verify")
    unchecked = isinstance(skip, Scalar) and skip.boolean()
    if skip is not None and unchecked is None:
        raise _wrong(skip, "insecure_skip_verify is true or false", "write true or false")
    if "key_file" in files and "cert_file" not in files:
        raise _wrong(table, "key_file is of a certificate", "name it as cert_file")
    unreadable = _wrong(
        table, f"{', '.join(files.values())}: no certificates that can be read", "give PEM files, the key unencrypted"
    )
    if not all(Path(file).is_file() for file in files.values()):  # a device has no end
        raise unreadable
    try:
        context = ssl.create_default_context(cafile=files.get("ca_file"))
        if "cert_file" in files:
            context.load_cert_chain(files["cert_file"], files.get("key_file"), password="")
    except (OSError, ValueError):
        raise unreadable from None
    if unchecked:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _table(root: Table, key: str) -> Table | None:
    node = root.get(key)
    if node is None:
        return None
    if not isinstance(node, Table):
        raise _wrong(node, f"{key} is a mapping", f"write its keys below {key}")
    if key in KEYS:
        _refuse_unknown(node, key)
    return node


def _refuse_unknown(table: Table, of: str) -> None:
    for key in table.entries:
        if key not in KEYS[of]:
            known = did_you_mean(key, KEYS[of]) or ", ".join(KEYS[of])
            raise InputError([Problem(table.key_place(key), f"'{key}' is not read in {of or 'this file'}", known)])


def _text(node: Node | None) -> str:
    if not isinstance(node, Scalar):
        raise _wrong(node, "a text stands here", "write it on one line")
    return node.text


def _line(node: Node, text: str) -> str:
    """Returns a text that a header can hold."""
    if not text.isascii() or not text.isprintable():
        raise _wrong(node, "a header holds printable ASCII on one line", "look for line breaks in its secret")
    return text


def _wrong(node: Node | None, message: str, remedy: str) -> InputError:
    assert node is not None
    return InputError([Problem(node.place, message, remedy)])
