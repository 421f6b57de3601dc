"""TLS for real: authorities of one's own, and servers that want to see a client's certificate."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from paramedic.ingest.sources.access import HttpAccess
from paramedic.ingest.sources.port import SourceAwayError
from paramedic.ingest.sources.prometheus.client import PrometheusApi
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings
from paramedic.ingest.sources.scraping.source import ScrapeSettings, ScrapeSource
from paramedic.ingest.sources.scraping.targets import targets_of_lines
from servers.exporters import Exporter, exporter
from servers.telemetry_sink import KeepingSink, running

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@dataclass(frozen=True)
class Certificates:
    """An authority, which has signed a server's certificate and a client's."""

    folder: Path

    def file(self, name: str) -> Path:
        return self.folder / name

    def access(self) -> HttpAccess:
        return HttpAccess(
            ca_file=self.file("ca.pem"),
            certificate_file=self.file("client.pem"),
            key_file=self.file("client.key"),
        )


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certificates")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key"]
    server = ["-addext", "subjectAltName=IP:127.0.0.1"]
    for name, more in (("ca", []), ("server", [*signed, *server]), ("client", signed)):
        subject = ["-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem"]
        command = ["openssl", "req", "-x509", *key, *subject, *more]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return Certificates(folder)


@pytest.fixture
def served(certificates: Certificates) -> Iterator[Exporter]:
    """A server that answers only those who show a certificate of the authority."""
    tls = ssl.create_default_context(
        ssl.Purpose.CLIENT_AUTH, cafile=str(certificates.file("ca.pem"))
    )
    tls.load_cert_chain(certificates.file("server.pem"), certificates.file("server.key"))
    tls.verify_mode = ssl.CERT_REQUIRED
    with exporter("a 1\n", tls=tls) as one:
        yield one


def scraped(served: Exporter, access: HttpAccess) -> KeepingSink:
    settings = ScrapeSettings(0.05, timeout_seconds=5, retry_limit_seconds=0.1, access=access)
    targets = targets_of_lines([f"https://{served.address}"], "test")
    with running(ScrapeSource(targets, settings, time.time)) as run:
        run.sink.wait_for(lambda: bool(run.sink.pages or run.sink.silences))
    return run.sink


def test_an_exporter_is_scraped_with_our_certificate(
    served: Exporter, certificates: Certificates
) -> None:
    sink = scraped(served, certificates.access())
    assert sink.pages, sink.silences


def test_an_exporter_of_an_unknown_authority_is_not_believed(served: Exporter) -> None:
    assert "certificate" in scraped(served, HttpAccess()).silences[0][2].lower()


def test_a_prometheus_is_asked_with_our_certificate(
    served: Exporter, certificates: Certificates
) -> None:
    result = [{"metric": {}, "value": [7.0, "7"]}]
    served.page = json.dumps({"status": "success", "data": {"result": result}})
    url = f"https://{served.address}"
    api = PrometheusApi(PrometheusSettings(url, ("a",), access=certificates.access()))
    assert api.now_seconds() == 7.0
    api.close()
    stranger = PrometheusApi(PrometheusSettings(url, ("a",)))
    with pytest.raises(SourceAwayError, match=r"(?i)certificate"):
        stranger.now_seconds()
    stranger.close()
