"""Access to HTTP servers: headers, TLS, settings that contradict each other."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path

import pytest

from paramedic.ingest.sources.access import AccessError, HttpAccess


def test_nothing_is_sent_by_default() -> None:
    assert HttpAccess().request_headers() == {}


def test_a_password_is_sent_as_basic_authentication() -> None:
    header = HttpAccess(username="ops", password="pa:ss").request_headers()["Authorization"]
    kind, text = header.split()
    assert (kind, base64.b64decode(text)) == ("Basic", b"ops:pa:ss")


def test_tenant_and_other_headers_stand_beside_the_token() -> None:
    access = HttpAccess(bearer_token="t", tenant="team-a", headers={"X-Other": "1"})
    assert access.request_headers() == {
        "Authorization": "Bearer t",
        "X-Scope-OrgID": "team-a",
        "X-Other": "1",
    }


def test_a_token_file_is_read_anew_each_time(tmp_path: Path) -> None:
    file = tmp_path / "token"
    access = HttpAccess(bearer_token_file=file)
    file.write_text("first")
    assert access.request_headers()["Authorization"] == "Bearer first"
    file.write_text("second\n")
    assert access.request_headers()["Authorization"] == "Bearer second"


def test_secrets_are_not_shown() -> None:
    shown = repr(HttpAccess(username="ops", password="hush", headers={"X-Key": "hush"}))
    assert "hush" not in shown


@pytest.mark.parametrize(
    "settings",
    [
        {"bearer_token": "t", "username": "u", "password": "p"},
        {"bearer_token": "t", "bearer_token_file": Path("t")},
        {"username": "u"},
        {"password": "p"},
        {"key_file": Path("k")},
    ],
)
def test_contradictions_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(AccessError):
        HttpAccess(**settings)  # type: ignore[arg-type]


def test_a_file_that_is_no_certificate_is_named(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    with pytest.raises(AccessError, match=r"ca\.pem"):
        HttpAccess(ca_file=file).tls()
    with pytest.raises(AccessError, match="absent"):
        HttpAccess(certificate_file=tmp_path / "absent").tls()


def test_certificates_are_checked_unless_told_otherwise() -> None:
    assert HttpAccess().tls().verify_mode == ssl.CERT_REQUIRED
    assert HttpAccess(verify=False).tls().verify_mode == ssl.CERT_NONE
