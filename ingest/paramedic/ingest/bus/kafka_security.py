"""How a Kafka connection is protected: TLS, and who we are. Secrets are never shown."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from paramedic.ingest.contract import BusSettingError


class SecurityProtocol(StrEnum):
    """What the broker's listener speaks."""

    PLAINTEXT = "plaintext"
    """Neither encrypted nor authenticated."""
    SSL = "ssl"
    """TLS; the client's own certificate, where there is one, says who we are."""
    SASL_PLAINTEXT = "sasl_plaintext"
    """A name and a password, over a connection that anybody on the way can read."""
    SASL_SSL = "sasl_ssl"
    """A name and a password over TLS."""

    @property
    def is_encrypted(self) -> bool:
        """Whether TLS is spoken."""
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def asks_for_a_name(self) -> bool:
        """Whether SASL is spoken."""
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class SaslMechanism(StrEnum):
    """How name and password are shown."""

    PLAIN = "PLAIN"
    """As they are: over TLS only."""
    SCRAM_SHA_256 = "SCRAM-SHA-256"
    """The password itself does not cross the network."""
    SCRAM_SHA_512 = "SCRAM-SHA-512"
    """The same with a longer hash."""


@dataclass(frozen=True, slots=True)
class KafkaSecurity:
    """Raises BusSettingError when what a protocol needs is missing."""

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    mechanism: SaslMechanism = SaslMechanism.SCRAM_SHA_512
    username: str = ""
    password: str = field(default="", repr=False)
    ca_file: Path | None = None
    """Certificates that are trusted; None: those of the system."""
    certificate_file: Path | None = None
    """Our own certificate, with the authorities between it and theirs."""
    key_file: Path | None = None
    """Its private key; None: in the certificate's file."""
    key_password: str = field(default="", repr=False)
    checks_hostname: bool = True
    """Whether the broker's certificate has to name its host."""

    def __post_init__(self) -> None:
        """Refuse what cannot work, naming the setting."""
        if self.protocol.asks_for_a_name and not (self.username and self.password):
            missing = "kafka.sasl_username" if not self.username else "a password"
            raise BusSettingError(
                f"kafka.security_protocol = {self.protocol.value} needs {missing}: set"
                " kafka.sasl_username, and PARAMEDIC_KAFKA_SASL_PASSWORD in the environment or"
                " kafka.sasl_password_file"
            )

    def tls_context(self) -> ssl.SSLContext | None:
        """What TLS connections are made with; None without TLS.

        Raises BusSettingError for files that cannot be read or do not fit.
        """
        if not self.protocol.is_encrypted:
            return None
        context = self._trusting()
        context.check_hostname = self.checks_hostname
        if self.certificate_file is not None:
            self._show_certificate(context, self.certificate_file)
        return context

    def client_options(self) -> Mapping[str, object]:
        """What a kafka-python client is built with. Raises BusSettingError."""
        options: dict[str, object] = {"security_protocol": self.protocol.value.upper()}
        if self.protocol.is_encrypted:
            options["ssl_context"] = self.tls_context()
        if self.protocol.asks_for_a_name:
            options["sasl_mechanism"] = self.mechanism.value
            options["sasl_plain_username"] = self.username
            options["sasl_plain_password"] = self.password
        return options

    def _trusting(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except OSError as error:  # ssl.SSLError is one
            raise BusSettingError(
                f"kafka.tls_ca_file = {self.ca_file}: no certificates can be read from it:"
                f" {error.strerror or error}"
            ) from error

    def _show_certificate(self, context: ssl.SSLContext, certificate: Path) -> None:
        try:
            context.load_cert_chain(certificate, self.key_file, lambda: self.key_password)
        except OSError as error:
            key = f" with kafka.tls_key_file = {self.key_file}" if self.key_file else ""
            raise BusSettingError(
                f"kafka.tls_certificate_file = {certificate}{key}: cannot be used:"
                f" {error.strerror or error}"
            ) from error
