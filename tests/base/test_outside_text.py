"""Text from outside in messages: visible, on one line, cut, without credentials, and otherwise as it is."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.outside_text import masked, shown, visible


def test_unsafe_characters_are_written_as_escapes() -> None:
    assert visible("a\x1b]0;pwn\x07\nb\u202e\x85") == r"a\x1b]0;pwn\x07\nb\u202e\x85"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("http://me:hunter2@host:9090/x", "http://***@host:9090/x"),
        ("http://me:hun/ter@2@host", "http://***@host"),
        ("postgres://u:p@db/x and http://a", "postgres://***@db/x and http://a"),
        ("password=hunter2", "password=***"),
        ("DB_PASSWORD: 'hunter2'", "DB_PASSWORD: '***'"),
        ('{"api_key": "abc123def"}', '{"api_key": "***"}'),
        ("/health?token=hunter2&x=1", "/health?token=***&x=1"),
        ("Authorization: Bearer abcdef.123456", "Authorization: Bearer ***"),
        ("Authorization: Basic bWU6aHVudGVy", "Authorization: Basic ***"),
        ("Authorization: Basic bWU6aHVudGVyMg==", "Authorization: Basic ***"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.SflKxw", "***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("ghp_abcdefghijklmnopqrstuvwx", "***"),
        ('{command: [sh, -c, "mysql -phunter2 -e x"]}', '{command: [sh, -c, "mysql -p*** -e x"]}'),
        ('["redis-cli", "-a", "hunter2", "ping"]', '["redis-cli", "-a", "***", "ping"]'),
        ('[curl, "-u", "user:hunter2", "http://x"]', '[curl, "-u", "user:***", "http://x"]'),
        ("curl --user me:hunter2 http://x", "curl --user me:*** http://x"),
    ],
)
def test_credentials_are_masked(text: str, safe: str) -> None:
    assert masked(text) == safe


@pytest.mark.parametrize(
    "text",
    [
        "output_tokens: 128", "tokens=512", "token_bucket: 100 req/s", "a token is 12 ms", "password: 12",
        "mail me@host.org", "the basic questions", "bearer of the claim", "http://host:9090/x", "loops/x.yaml:3:1",
        "a per_try of 250 ms, and 3 tries = 750 ms", "author: somebody", "the secret of control",
        "mysql -h db:3306 -e x", "ssh -p 2222 host", "curl -u http://x", "nginx -p 8080",
    ],
)  # fmt: skip
def test_other_words_stay(text: str) -> None:
    assert shown(text) == text


def test_long_text_is_cut_in_the_middle() -> None:
    cut = shown("a" * 5_000 + "end")
    assert cut.startswith("aaa")
    assert cut.endswith("end")
    assert len(cut) < 2_100


@given(st.text(max_size=40))
def test_what_is_shown_is_printable_and_stays_when_it_is_shown_again(text: str) -> None:
    safe = shown(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in safe)
    assert shown(safe) == safe
