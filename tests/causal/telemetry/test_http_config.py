"""A login in the format of Prometheus: what is sent, and what is refused at its place."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from coherence.base.errors import InputError, UsageError
from coherence.causal.telemetry.http_config import NO_LOGIN, HttpLogin, http_login
from tests.paths import DATA

PEM, KEY = DATA / "tls/loopback.pem", DATA / "tls/loopback.key"


def login(folder: Path, text: str) -> HttpLogin:
    file = folder / "login.yaml"
    file.write_text(text)
    return http_login(str(file))


def test_no_file_is_no_login() -> None:
    assert http_login(None) is NO_LOGIN


def test_each_way_to_log_in(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter 2\n")
    basic = login(tmp_path, "basic_auth: {username: me, password_file: secret}\n")
    assert basic.headers == {"Authorization": "Basic bWU6aHVudGVyIDI="}  # me:hunter 2
    assert login(tmp_path, "authorization: {credentials: abc}\n").headers == {"Authorization": "Bearer abc"}
    assert login(tmp_path, "authorization: {type: Token, credentials_file: secret}\n").headers == {
        "Authorization": "Token hunter 2"
    }
    several = login(tmp_path, "http_headers: {X-Scope-OrgID: {values: [a], secrets: [b], files: [secret]}}\n")
    assert several.headers == {"X-Scope-OrgID": "a, b, hunter 2"}


def test_a_secret_is_in_no_representation(tmp_path: Path) -> None:
    assert "hunter" not in repr(login(tmp_path, "authorization: {credentials: hunter2}\n"))
    assert "hunter2" in login(tmp_path, "authorization: {credentials: hunter2}\n").secrets


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("basic_auth: {username: me, password: hunter 2}\n", {"hunter 2", "bWU6aHVudGVyIDI"}),
        ("authorization: {type: T, credentials: alpha beta g}\n", {"alpha beta g", "alpha", "beta"}),
        ("http_headers: {X: {secrets: [first, s2]}, Y: {values: [abcd, a]}}\n", {"first", "s2", "abcd"}),
    ],
)
def test_every_secret_of_a_login_is_known(tmp_path: Path, text: str, secrets: set[str]) -> None:
    assert set(login(tmp_path, text).secrets) == secrets


def test_how_tls_checks_the_server(tmp_path: Path) -> None:
    own = login(tmp_path, f"tls_config: {{ca_file: {PEM}, cert_file: {PEM}, key_file: {KEY}}}\n").tls
    assert own is not None
    assert own.verify_mode == ssl.CERT_REQUIRED
    assert [one["notAfter"][-8:] for one in own.get_ca_certs()] == ["2126 GMT"]
    blind = login(tmp_path, "tls_config: {insecure_skip_verify: true}\n").tls
    assert blind is not None
    assert blind.verify_mode == ssl.CERT_NONE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("basic_auth: {username: me, password: HUSH}\nauthorization: {credentials: HUSH}\n", "exclude each other"),
        ("basic_auth: {username: me}\n", "one of password and password_file is needed"),
        ("basic_auth: {username: me, password: HUSH, password_file: x}\n", "one of password and password_file"),
        ("authorization: {credentials_file: nosuch}\n", "is no file of text that can be read"),
        ("authorization: {credentials: [HUSH]}\n", "a text stands here"),
        ('authorization: {credentials: "HUSH\\r\\nX: y"}\n', "a header holds printable ASCII on one line"),
        ("authorization: HUSH\n", "authorization is a mapping"),
        ("bearer_token: HUSH\n", "'bearer_token' is not read in this file"),
        ("tls_config: {ca_files: x}\n", "did you mean 'ca_file'"),
        ("tls_config: {ca_file: nosuch}\n", "no certificates that can be read"),
        ("tls_config: {key_file: x}\n", "key_file is of a certificate"),
        ("tls_config: {insecure_skip_verify: maybe}\n", "insecure_skip_verify is true or false"),
        ("http_headers: {'X Y': {values: [HUSH]}}\n", "a name of a header has letters"),
        ("http_headers: {X: {values: HUSH}}\n", "a header has lists"),
        ("http_headers: {X: HUSH}\n", "a header is a mapping"),
        ("[HUSH]\n", "is no mapping"),
        ("", "is no mapping"),
    ],
)
def test_what_is_no_login_is_refused_without_its_secret(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises((InputError, UsageError)) as caught:
        login(tmp_path, text)
    assert words in str(caught.value)
    assert "HUSH" not in str(caught.value)


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(InputError, match=r"nosuch:1:1.* cannot be read: No such file"):
        http_login("nosuch")


def test_a_device_without_an_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="more than 8000000 bytes"):
        http_login("/dev/zero")
    with pytest.raises(InputError, match="no certificates that can be read"):
        login(tmp_path, "tls_config: {ca_file: /dev/zero}\n")
