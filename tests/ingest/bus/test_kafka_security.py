"""TLS and passwords against a broker that asks for them; secrets are never shown."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from paramedic.ingest.bus.kafka import KafkaBus
from paramedic.ingest.bus.kafka_security import KafkaSecurity, SaslMechanism, SecurityProtocol
from paramedic.ingest.bus.kafka_settings import KafkaCompression, KafkaSettings
from paramedic.ingest.contract import BusSettingError, BusUnavailableError, Start, Topic
from servers.arrivals import arrivals
from servers.scripted_kafka import ScriptedKafka, scripted_kafka

HERE = Path(__file__).parents[2] / "servers" / "certificates"
AUTHORITY, CLIENT = HERE / "ca.pem", HERE / "client.pem"
TLS, PASSWORD = SecurityProtocol.SSL, "correct horse"
shakes_hands = pytest.mark.connected  # no server is needed, but each takes a second


@pytest.fixture
def broker() -> Iterator[ScriptedKafka]:
    with scripted_kafka() as broker:
        yield broker


def serve_tls(broker: ScriptedKafka, certificate: str = "broker.pem") -> ssl.SSLContext:
    broker.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    broker.tls.load_cert_chain(HERE / certificate)
    return broker.tls


def settings_of(broker: ScriptedKafka, security: KafkaSecurity) -> KafkaSettings:
    server = f"127.0.0.1:{broker.address[1]}"
    return KafkaSettings((server,), partitions=1, connect_seconds=0.6, security=security)


def carries_a_message(settings: KafkaSettings) -> bool:
    publisher = KafkaBus(settings).publisher()
    publisher.publish(Topic.EVENTS, "k", b"through")
    publisher.flush(5.0)
    publisher.close()
    subscription = KafkaBus(settings).subscribe([Topic.EVENTS], Start.EARLIEST)
    messages = arrivals(subscription, 1)
    subscription.close()
    return [message.payload for message in messages] == [b"through"]


@pytest.mark.long
def test_a_broker_with_a_trusted_certificate_is_used(broker: ScriptedKafka) -> None:
    serve_tls(broker)
    security = KafkaSecurity(TLS, ca_file=AUTHORITY)
    assert carries_a_message(settings_of(broker, security))


@shakes_hands
def test_a_broker_that_asks_for_a_certificate_gets_ours(broker: ScriptedKafka) -> None:
    context = serve_tls(broker)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(AUTHORITY)
    locked = KafkaSecurity(
        TLS,
        ca_file=AUTHORITY,
        certificate_file=HERE / "client.crt",
        key_file=HERE / "client-locked.key",
        key_password="secret",
    )
    assert carries_a_message(settings_of(broker, locked))


@shakes_hands
@pytest.mark.parametrize(
    ("certificate", "security", "reason"),
    [
        ("broker.pem", KafkaSecurity(TLS), "certificate verify failed"),
        ("elsewhere.pem", KafkaSecurity(TLS, ca_file=AUTHORITY), "IP address mismatch"),
        ("broker.pem", KafkaSecurity(), r"security_protocol = ssl"),
    ],
    ids=["unknown authority", "another host's name", "no TLS on our side"],
)
def test_a_broker_that_cannot_be_trusted_is_refused_with_the_reason(
    broker: ScriptedKafka, certificate: str, security: KafkaSecurity, reason: str
) -> None:
    serve_tls(broker, certificate)
    with pytest.raises(BusUnavailableError, match=reason) as caught:
        KafkaBus(settings_of(broker, security)).publisher()
    assert "\n" not in str(caught.value)


@shakes_hands
def test_the_name_in_a_certificate_is_not_checked_where_that_is_switched_off(
    broker: ScriptedKafka,
) -> None:
    serve_tls(broker, "elsewhere.pem")
    security = KafkaSecurity(TLS, ca_file=AUTHORITY, checks_hostname=False)
    assert carries_a_message(settings_of(broker, security))


@shakes_hands
@pytest.mark.parametrize("mechanism", SaslMechanism)
def test_a_name_and_its_password_open_the_door(
    broker: ScriptedKafka, mechanism: SaslMechanism
) -> None:
    broker.passwords = {"diagnose": PASSWORD}
    protocol = SecurityProtocol.SASL_PLAINTEXT
    assert carries_a_message(
        settings_of(broker, KafkaSecurity(protocol, mechanism, "diagnose", PASSWORD))
    )


@shakes_hands
def test_name_and_password_go_over_tls_too(broker: ScriptedKafka) -> None:
    serve_tls(broker)
    broker.passwords = {"diagnose": PASSWORD}
    security = KafkaSecurity(
        SecurityProtocol.SASL_SSL, username="diagnose", password=PASSWORD, ca_file=AUTHORITY
    )
    assert carries_a_message(settings_of(broker, security))


@shakes_hands
@pytest.mark.parametrize("mechanism", SaslMechanism)
def test_a_wrong_password_is_one_clear_line_that_does_not_show_it(
    broker: ScriptedKafka, mechanism: SaslMechanism
) -> None:
    broker.passwords = {"diagnose": PASSWORD}
    security = KafkaSecurity(SecurityProtocol.SASL_PLAINTEXT, mechanism, "diagnose", "hunter2")
    with pytest.raises(BusUnavailableError, match="refuses diagnose") as caught:
        KafkaBus(settings_of(broker, security)).publisher()
    assert "\n" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_secrets_are_not_shown_with_the_settings() -> None:
    security = KafkaSecurity(
        SecurityProtocol.SASL_SSL, username="me", password="hunter2", key_password="hunter3"
    )
    shown = repr(KafkaSettings(security=security))
    assert "me" in shown
    assert "hunter" not in shown


@pytest.mark.parametrize(
    ("username", "password", "missing"),
    [("", "p", "kafka.sasl_username"), ("me", "", "a password"), ("", "", "kafka.sasl_username")],
)
def test_a_protocol_with_names_needs_a_name_and_a_password(
    username: str, password: str, missing: str
) -> None:
    with pytest.raises(BusSettingError, match=f"needs {missing}"):
        KafkaSecurity(SecurityProtocol.SASL_SSL, username=username, password=password)


@pytest.mark.parametrize(
    ("security", "complaint"),
    [
        (KafkaSecurity(TLS, ca_file=Path("/no/ca")), "tls_ca_file = /no/ca.*No such file"),
        (KafkaSecurity(TLS, ca_file=HERE / "README.md"), "tls_ca_file = .*no certificates"),
        (KafkaSecurity(TLS, certificate_file=AUTHORITY), "tls_certificate_file = .*ca.pem"),
        (
            KafkaSecurity(TLS, certificate_file=CLIENT, key_file=HERE / "broker.pem"),
            "with kafka.tls_key_file = .*broker.pem.*cannot be used",
        ),
        (
            KafkaSecurity(
                TLS, certificate_file=HERE / "client.crt", key_file=HERE / "client-locked.key"
            ),
            "client-locked.key: cannot be used",
        ),
    ],
    ids=["no file", "no certificate", "no key", "another's key", "no password for the key"],
)
def test_files_that_cannot_be_used_are_named(security: KafkaSecurity, complaint: str) -> None:
    with pytest.raises(BusSettingError, match=complaint):
        KafkaBus(KafkaSettings(("127.0.0.1:1",), security=security)).publisher()


def test_messages_are_compressed_as_it_is_set(broker: ScriptedKafka) -> None:
    settings = settings_of(broker, KafkaSecurity())
    publisher = KafkaBus(_with(settings, KafkaCompression.GZIP)).publisher()
    publisher.publish(Topic.EVENTS, "k", b"a" * 5000)
    publisher.flush(5.0)
    publisher.close()
    assert broker.held_bytes("paramedic.events.v1") < 500


def test_a_compression_that_is_not_installed_says_what_to_install(broker: ScriptedKafka) -> None:
    settings = settings_of(broker, KafkaSecurity())
    with pytest.raises(BusSettingError, match="snappy needs python-snappy"):
        KafkaBus(_with(settings, KafkaCompression.SNAPPY)).publisher()


def test_messages_in_a_compression_that_is_not_installed_say_what_to_do(
    broker: ScriptedKafka,
) -> None:
    settings = settings_of(broker, KafkaSecurity())
    publisher = KafkaBus(_with(settings, KafkaCompression.NONE)).publisher()
    publisher.publish(Topic.EVENTS, "k", b"by somebody else")
    publisher.flush(5.0)
    publisher.close()
    broker.claim_compression("paramedic.events.v1", codec=2)
    subscription = KafkaBus(settings).subscribe([Topic.EVENTS], Start.EARLIEST)
    with pytest.raises(BusSettingError, match=r"snappy.*install its package"):
        subscription.poll(5.0)
    subscription.close()


def _with(settings: KafkaSettings, compression: KafkaCompression) -> KafkaSettings:
    return KafkaSettings(
        settings.servers, partitions=1, connect_seconds=1.0, compression=compression
    )
