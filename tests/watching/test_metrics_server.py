"""`/metrics` and nothing else."""

from __future__ import annotations

import socket
import urllib.error
from urllib.request import urlopen

import pytest

from coherence.base.errors import UsageError
from coherence.watching.metrics_server import MetricsServer


def test_it_serves_its_text() -> None:
    with MetricsServer("127.0.0.1:0", lambda: "x 1\n") as server:
        base = f"http://127.0.0.1:{server.port}"
        with urlopen(f"{base}/metrics") as answer:  # noqa: S310
            assert answer.read() == b"x 1\n"
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        with urlopen(f"{base}/-/healthy") as answer:  # noqa: S310
            assert answer.read() == b"healthy\n"
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            urlopen(f"{base}/../etc/passwd")  # noqa: S310
        refused.value.close()


@pytest.mark.parametrize(
    "address",
    [
        "", "9464", "host:", "host:x", "127.0.0.1:70000",
        "256.1.1.1:1", "127.0.0.1:²", "127.0.0.1:" + "9" * 5000, "::1:80",
        "é..x:80", "a\0b:80", "\udcff:80", "x" * 300 + ":80", "[::1]", "[]:80", "[127.0.0.1]:80", "[[::1]]:80",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="--listen"):
        MetricsServer(address, lambda: "")


def test_an_address_of_family_6_is_served() -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no address of family 6 here")
    server = MetricsServer("[::1]:0", lambda: "x 1\n")
    with server as serving, urlopen(f"http://[::1]:{serving.port}/-/healthy") as answer:
        assert answer.read() == b"healthy\n"
