"""How to get in at an HTTP server that gives telemetry: tokens, passwords, certificates, tenant."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paramedic.ingest.sources.port import SourceError


class AccessError(SourceError):
    """The settings of access contradict each other, or a file they name cannot be used."""


@dataclass(frozen=True, slots=True)
class HttpAccess:
    """What a server wants to see of us, and what we want to see of it; nothing by default.

    Raises AccessError when the settings contradict each other.
    """

    bearer_token: str | None = field(default=None, repr=False)
    bearer_token_file: Path | None = None
    """Read again from time to time, since such tokens are replaced while we run."""
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    """Authorities that are trusted instead of the system's."""
    certificate_file: Path | None = None
    """Our own certificate, for servers that ask for one."""
    key_file: Path | None = None
    """The certificate's key; None where the certificate's file holds it."""
    verify: bool = True
    """Whether the server's certificate is checked at all."""
    tenant: str | None = None
    """Sent as `X-Scope-OrgID`, as Mimir, Cortex and Thanos want it."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Any other header."""

    def __post_init__(self) -> None:
        ways = (self.bearer_token, self.bearer_token_file, self.username)
        if sum(way is not None for way in ways) > 1:
            raise AccessError(
                "more than one of bearer_token, bearer_token_file and username is set: keep one"
            )
        if (self.username is None) != (self.password is None):
            raise AccessError("username and password belong together: set both or neither")
        if self.key_file is not None and self.certificate_file is None:
            raise AccessError(f"key_file {self.key_file} is set without certificate_file")

    def request_headers(self) -> dict[str, str]:
        """The headers of a request. Raises AccessError when the token's file cannot be read."""
        headers = dict(self.headers)
        if self.tenant is not None:
            headers["X-Scope-OrgID"] = self.tenant
        credentials = self._credentials()
        if credentials is not None:
            headers["Authorization"] = credentials
        return headers

    def tls(self) -> ssl.SSLContext:
        """The TLS side. Raises AccessError when a file cannot be used."""
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.certificate_file is not None:
                context.load_cert_chain(self.certificate_file, self.key_file)
        except OSError as error:
            raise AccessError(f"TLS files of {self}: {error}: name PEM files") from error
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _credentials(self) -> str | None:
        if self.username is not None:
            pair = f"{self.username}:{self.password}".encode()
            return f"Basic {base64.b64encode(pair).decode('ascii')}"
        token = self.bearer_token if self.bearer_token_file is None else self._token_of_file()
        return None if token is None else f"Bearer {token}"

    def _token_of_file(self) -> str:
        assert self.bearer_token_file is not None
        try:
            return self.bearer_token_file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise AccessError(f"bearer_token_file {self.bearer_token_file}: {error}") from error
