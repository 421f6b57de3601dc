"""Every setting with its default, unit, limits and meaning; `docs/settings.md` lists the same."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, get_type_hints

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a setting means and which values it takes."""

    meaning: str
    minimum: float | None = None
    maximum: float | None = None


def _setting(
    default: object, meaning: str, minimum: float | None = None, maximum: float | None = None
) -> Any:
    return field(default=default, metadata={"limits": Limits(meaning, minimum, maximum)})


@dataclass(frozen=True, slots=True)
class JobSettings:
    """How many processes a job has and where its runs lie."""

    ranks: int = _setting(4, "Processes that train, each playing one node.", 1, 4096)
    spares: int = _setting(1, "Warm spares that wait for a rank to be lost.", 0, 1024)
    runs_folder: str = _setting("paramedic-runs", "Folder that receives one folder a run.")


@dataclass(frozen=True, slots=True)
class BusSettings:
    """The bus between the processes."""

    address: str = _setting(
        "embedded",
        "`embedded` (a Unix socket of the run), `kafka` (starts the development broker) "
        "or `kafka://HOST:PORT`.",
    )
    connect_timeout_seconds: float = _setting(
        5.0, "How long a broker may take to answer before a run is refused.", 0.1, 600
    )


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """How a Kafka cluster is used; for a bus whose address begins with `kafka`."""

    group: str = _setting(
        "paramedic-diagnose",
        "Consumer group whose members share the jobs; `off`: this process judges them all.",
    )
    prefix: str = _setting("paramedic", "What the topics' names begin with.")
    partitions: int = _setting(8, "Of topics that have to be created.", 1, 10000)
    compression: str = _setting(
        "lz4", "How producers compress: `none`, `gzip`, `snappy`, `lz4` or `zstd`."
    )
    security_protocol: str = _setting(
        "plaintext",
        "What the broker's listener speaks: `plaintext`, `ssl`, `sasl_plaintext` or `sasl_ssl`.",
    )
    sasl_mechanism: str = _setting(
        "SCRAM-SHA-512",
        "How the password is shown: `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`.",
    )
    sasl_username: str = _setting("none", "Who we are to the broker.")
    sasl_password_file: str = _setting(
        "none", "File with the password, unless `PARAMEDIC_KAFKA_SASL_PASSWORD` holds it."
    )
    tls_ca_file: str = _setting(
        "none", "PEM file with the authorities to trust; `none`: those of the system."
    )
    tls_certificate_file: str = _setting("none", "PEM file with our own certificate.")
    tls_key_file: str = _setting(
        "none", "PEM file with its key; `none`: it is in the certificate's file."
    )
    tls_key_password_file: str = _setting(
        "none", "File with the key's password, unless `PARAMEDIC_KAFKA_TLS_KEY_PASSWORD` holds it."
    )
    tls_check_hostname: str = _setting(
        "yes", "Whether the broker's certificate has to name its host: `yes` or `no`."
    )
    telemetry_retention_seconds: float = _setting(
        3600.0, "How long telemetry and slots are held, in topics that have to be created.", 60, 1e9
    )
    events_retention_seconds: float = _setting(
        604800.0, "The same of events; what a job did before is not known after a restart.", 60, 1e9
    )
    verdicts_retention_seconds: float = _setting(
        2592000.0, "The same of verdicts; older open ones are told again after a restart.", 60, 1e9
    )
    dead_letter_retention_seconds: float = _setting(
        604800.0, "The same of what could not be read.", 60, 1e9
    )
    reconnect_timeout_seconds: float = _setting(
        120.0, "How long a broker that has gone away is waited for, with what was sent.", 1, 3600
    )
    in_flight_limit_bytes: int = _setting(
        64000000, "What a publisher holds that the broker has not acknowledged.", 1e6, 2e9
    )
    session_timeout_seconds: float = _setting(
        10.0, "A member of the group that is silent for so long is left out.", 6, 300
    )
    rewind_seconds: float = _setting(
        120.0,
        "Beyond the window, so much telemetry is read again by whoever takes a share over.",
        0,
        86400,
    )
    commit_interval_seconds: float = _setting(
        5.0, "How often a member says how far it is; so much is judged twice after a crash.", 1, 300
    )


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """Where REST, metrics and the event stream listen."""

    host: str = _setting("127.0.0.1", "Address to bind; only loopback until keys can be set up.")
    port: int = _setting(8370, "TCP port; 0 takes any free one.", 0, 65535)


@dataclass(frozen=True, slots=True)
class CollectSettings:
    """How telemetry of clusters that run already is read, and which job each GPU belongs to."""

    job_labels: str = _setting(
        "hpc_job,training_kubeflow_org_job_name,jobset_sigs_k8s_io_jobset_name",
        "Labels that may name the job, the first that is not empty; `exported_` and `label_` forms "
        "are found too. Where no label names any, all busy hosts are one job, `cluster`.",
    )
    role_labels: str = _setting(
        "none",
        "Labels that name roles, such as `pipeline_stage=pp_rank,switch=leaf`; roles are "
        "pipeline_stage, data_rank, tensor_rank, expert_group, switch and rack.",
    )
    past_seconds: float = _setting(
        900.0, "How much of its past is read from a Prometheus at the start.", 0, 86400
    )
    interval_seconds: float = _setting(1.0, "How often exporters are asked.", 0.1, 300)
    settle_seconds: float = _setting(
        1.0, "How long a second waits for its last pages before it is published.", 0, 1
    )
    buffer_seconds: float = _setting(
        60.0, "How much telemetry is kept while the bus is away.", 1, 3600
    )
    busy_seconds: float = _setting(
        5.0,
        "How long a GPU is in use before it counts as busy, where no label names a job.",
        0,
        600,
    )
    idle_seconds: float = _setting(
        120.0, "How long all GPUs of a host are idle before it has left the job `cluster`.", 1, 3600
    )
    absent_seconds: float = _setting(
        900.0, "How long nothing is heard of a node before it has left its job.", 30, 86400
    )


@dataclass(frozen=True, slots=True)
class DetectionSettings:
    """When a machine counts as failing."""

    window_seconds: int = _setting(60, "How much of the past a window holds.", 4, 3600)
    lateness_seconds: int = _setting(3, "How late a sample may arrive and still count.", 0, 4)
    heartbeat_timeout_seconds: float = _setting(
        10.0, "Silence of a rank after which it counts as hanging.", 1.5, 3600
    )
    false_alarms_per_job_day: float = _setting(
        0.01, "False alarms that patterns may raise in a day of one job.", 0.0001, 10
    )
    known_errors_file: str = _setting(
        "none",
        "TOML file laid over the list of known errors: what each Xid means, and how grave it is.",
    )
    flight_recorder_folder: str = _setting(
        "none", "Folder in which `diagnose` looks for dumps of flight recorders, as `FOLDER/JOB/`."
    )
    failure_window_seconds: float = _setting(
        604800.0, "So far back a node's failures count, in whichever job.", 3600, 7776000
    )
    failure_false_alarms_per_week: float = _setting(
        0.01, "Nodes of the fleet that are wrongly said to fail too often.", 0.0001, 10
    )
    use_history_prior: str = _setting(
        "no", "Whether a node's past failures move the confidence of new verdicts: `yes` or `no`."
    )
    maintenance_settle_seconds: float = _setting(
        60.0, "So long after its declared maintenance a machine is still put aside.", 0, 3600
    )


@dataclass(frozen=True, slots=True)
class RecoverySettings:
    """How a job is brought back."""

    elastic_retries: int = _setting(
        3, "Recoveries without a completed step before a person is asked.", 0, 100
    )
    ready_timeout_seconds: float = _setting(
        300.0, "A spare or newcomer that is not ready by then is ended.", 1, 86400
    )
    start_timeout_seconds: float = _setting(
        120.0, "A rank that is so much later at the start than the first one is ended.", 1, 86400
    )
    target_seconds: float = _setting(120.0, "A recovery that takes longer is overdue.", 1, 86400)
    replacements_per_hour: int = _setting(
        3, "Replacements that verdicts may cause in a job before a person is asked.", 0, 1000
    )
    minimum_confidence_ratio: float = _setting(
        0.9, "A verdict below this confidence touches nothing.", 0, 1
    )


@dataclass(frozen=True, slots=True)
class CheckpointSettings:
    """When rank 0 writes a full checkpoint."""

    interval_seconds: float = _setting(7200.0, "Time between two full checkpoints.", 1, 604800)


@dataclass(frozen=True, slots=True)
class RecordingSettings:
    """The past that `run` and `up` keep in their folder."""

    ring_bytes: int = _setting(
        2_000_000_000,
        "How large the folder `ring` of a run becomes, with all jobs' last hours; 0 keeps none.",
        0,
        10**15,
    )
    segment_seconds: float = _setting(
        600.0, "How long a segment of the ring is; the oldest goes first.", 10, 86400
    )


@dataclass(frozen=True, slots=True)
class ModelsSettings:
    """Where trained models are kept, and which of them is in use."""

    registry_folder: str = _setting(
        "paramedic-models", "Folder with every version of the pattern model."
    )
    scoring: str = _setting(
        "registry",
        "What a running `diagnose` scores jobs with: `registry` (what is in production there, else "
        "the model that ships), `shipped` or `off`.",
    )
    scoring_budget_ratio: float = _setting(
        0.5,
        "Share of one core's time that scoring takes at most, beside the judging; slots beyond it "
        "are skipped and counted.",
        0.01,
        1,
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; sections are the tables of `paramedic.toml`."""

    job: JobSettings = field(default_factory=JobSettings)
    bus: BusSettings = field(default_factory=BusSettings)
    kafka: KafkaSettings = field(default_factory=KafkaSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    collect: CollectSettings = field(default_factory=CollectSettings)
    detection: DetectionSettings = field(default_factory=DetectionSettings)
    recovery: RecoverySettings = field(default_factory=RecoverySettings)
    checkpoint: CheckpointSettings = field(default_factory=CheckpointSettings)
    recording: RecordingSettings = field(default_factory=RecordingSettings)
    models: ModelsSettings = field(default_factory=ModelsSettings)


SECTIONS: dict[str, type[Any]] = get_type_hints(Settings)


@dataclass(frozen=True, slots=True)
class SettingDescription:
    """One setting as the documentation and the reader see it."""

    section: str
    name: str
    kind: type[Any]
    default: object
    limits: Limits

    @property
    def key(self) -> str:
        """The dotted name, such as `detection.window_seconds`."""
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        """The environment variable, such as `PARAMEDIC_DETECTION_WINDOW_SECONDS`."""
        return f"PARAMEDIC_{self.section}_{self.name}".upper()


@cache
def describe_settings() -> tuple[SettingDescription, ...]:
    """Every setting there is, in the order of the documentation."""
    return tuple(
        SettingDescription(section, one.name, kinds[one.name], one.default, one.metadata["limits"])
        for section, schema in SECTIONS.items()
        for kinds in (get_type_hints(schema),)
        for one in fields(schema)
    )


def known_settings() -> dict[str, SettingDescription]:
    """Every setting by its dotted name."""
    return {setting.key: setting for setting in describe_settings()}
