"""Everything that can be set about the synthetic cluster, in one frozen configuration.

Defaults describe eight-GPU nodes of the H100 class. Nothing here is shared with a detector.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from paramedic.ingest.contract import JobName
from paramedic.ingest.synthetic.errors import ClusterSettingError
from paramedic.ingest.synthetic.faults.plan import FaultPlan

_JOB = JobName("synthetic")
_MOST_GPUS = 100_000  # more than any job has; every second of them is held in memory


@dataclass(frozen=True, slots=True)
class Shape:
    """How many machines there are, and how the job is laid over them."""

    nodes: int = 64
    gpus: int = 8
    """GPUs a node."""
    pipeline_stages: int = 0
    """0: chosen so that at least four data ranks share a stage."""
    tensor_ranks: int = 0
    """0: all GPUs of a node."""
    expert_groups: int = 1
    nodes_per_rack: int = 4
    nodes_per_switch: int = 8

    def __post_init__(self) -> None:
        for name in ("nodes", "gpus", "expert_groups", "nodes_per_rack", "nodes_per_switch"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "must be at least 1")
        ranks = self.nodes * self.gpus
        require(ranks <= _MOST_GPUS, "nodes x gpus", ranks, f"must be at most {_MOST_GPUS}")
        require(self.tensor >= 1 and self.gpus % self.tensor == 0, "tensor_ranks",
                self.tensor_ranks, f"must divide the {self.gpus} GPUs of a node")  # fmt: skip
        columns = ranks // self.tensor
        require(self.stages >= 1 and columns % self.stages == 0, "pipeline_stages",
                self.pipeline_stages, f"must divide the {columns} tensor groups")  # fmt: skip
        require(self.data % self.expert_groups == 0, "expert_groups", self.expert_groups,
                f"must divide the {self.data} data ranks")  # fmt: skip

    @property
    def tensor(self) -> int:
        """Tensor ranks."""
        return self.tensor_ranks or self.gpus

    @property
    def stages(self) -> int:
        """Pipeline stages."""
        if self.pipeline_stages:
            return self.pipeline_stages
        columns = self.nodes * self.gpus // self.tensor
        return next(n for n in (4, 2, 1) if n == 1 or (columns % n == 0 and columns // n >= 4))

    @property
    def data(self) -> int:
        """Data ranks."""
        return self.nodes * self.gpus // (self.tensor * self.stages)


@dataclass(frozen=True, slots=True)
class Work:
    """What a training step consists of."""

    compute_seconds: float = 1.5
    """A rank's own work in a step, at the nominal clock."""
    microbatches: int = 32
    stage_imbalance: float = 0.03
    """How much more work the last pipeline stage has than the lightest, as a share."""
    expert_imbalance: float = 0.02
    step_jitter: float = 0.004
    """Standard deviation of a rank's work from step to step, as a share."""
    loading_seconds: float = 0.02
    """Data loading of a step that is not hidden behind computing."""
    optimizer_seconds: float = 0.06
    gradient_bytes: float = 6.0e9
    """What a GPU sends in the gradient collective of a step."""
    buckets: int = 24
    """Collective calls that the gradients are split into."""
    tensor_bytes: float = 1.8e11
    """What a GPU sends over NVLink in the tensor-parallel exchanges of a step."""
    pipeline_bytes: float = 1.0e9
    memory_bytes: float = 6.4e10
    """GPU memory that the job holds once it is warm; stages differ."""
    samples: int = 1024
    """Global batch size."""
    starting_seconds: float = 15.0
    warm_up_steps: int = 12
    checkpoint_every_seconds: float = 900.0
    checkpoint_seconds: float = 10.0
    evaluation_every_seconds: float = 1900.0
    evaluation_seconds: float = 25.0

    def __post_init__(self) -> None:
        require(self.compute_seconds >= 0.2, "compute_seconds", self.compute_seconds,
                "must be at least 0.2: shorter steps cost more than they show")  # fmt: skip
        for name in ("checkpoint_every_seconds", "evaluation_every_seconds", "gradient_bytes"):
            require(getattr(self, name) > 0, name, getattr(self, name), "must be above 0")
        require(self.microbatches >= 1, "microbatches", self.microbatches, "must be at least 1")
        require(self.buckets >= 1, "buckets", self.buckets, "must be at least 1")


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the machines are made of."""

    model: str = "NVIDIA H100 80GB HBM3"
    driver: str = "580.105.08"
    boost_clock_hertz: float = 1.98e9
    power_limit_watts: float = 700.0
    idle_watts: float = 72.0
    memory_bytes: float = 81_559.0 * 2**20
    nic_bytes_per_second: float = 4.5e10
    """Of one GPU's network card, as far as a collective can use it."""
    pcie_bytes_per_second: float = 5.4e10
    nvlink_bytes_per_second: float = 4.0e11
    kelvin_per_watt: float = 0.066
    heating_seconds: float = 22.0
    """Time constant of the GPU's temperature; the memory's is half as much again."""
    throttle_celsius: float = 86.0
    ambient_celsius: float = 26.0
    row_celsius: float = 6.0
    """How much warmer the air is at the rear half of the GPUs of a node."""
    cores: int = 32
    """Processor cores, as node_exporter lists them."""
    host_memory_bytes: float = 2.0e12
    filesystem_bytes: float = 1.5e13


@dataclass(frozen=True, slots=True)
class Differences:
    """How much healthy machines differ: standard deviations, as shares where no unit is named."""

    speed: float = 0.0025
    power: float = 0.025
    cooling: float = 0.05
    network: float = 0.004
    host: float = 0.06
    ambient_celsius: float = 1.2


@dataclass(frozen=True, slots=True)
class Weather:
    """What healthy clusters live through; rates are occasions a day of each place."""

    cron_every_seconds: int = 900
    cron_seconds: int = 12
    host_busy_per_node_day: float = 3.0
    congestion_per_day: float = 24.0
    """Of the whole fabric."""
    congestion_per_switch_day: float = 6.0
    data_stalls_per_node_day: float = 0.5
    corrected_errors_per_gpu_day: float = 0.3
    replays_per_gpu_day: float = 4.0
    error_bursts_per_node_day: float = 0.0
    """Seconds in which links or memory of a healthy node count more errors than usual."""
    host_regimes_per_node_day: float = 0.0
    """Minutes in which a host has a little more to do than before."""
    lone_xids_per_gpu_day: float = 0.0
    """Codes that the driver raises and that mean nothing for the job."""
    wandering_ratio: float = 0.0
    """How far cooling and load of each GPU drift to and fro, as a share."""

    @classmethod
    def calm(cls) -> Weather:
        """Nothing of all that happens."""
        return cls(0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Observation:
    """How imperfectly the cluster is seen; rates are occasions a day of each place."""

    glitches_per_gpu_day: float = 0.3
    lost_scrapes_per_node_day: float = 8.0
    exporter_restarts_per_node_day: float = 0.25
    clock_offset_seconds: float = 0.02
    """Standard deviation of the nodes' clocks."""
    wrong_clock_nodes: int = 0
    """Nodes whose clock is off by `wrong_clock_seconds`, either way."""
    wrong_clock_seconds: float = 9.0
    arrival_seconds: float = 0.15
    """How long after its second a sample arrives, in the median."""
    late_ratio: float = 0.0005
    """Share of samples that arrive up to 6 s later than that."""

    @classmethod
    def perfect(cls) -> Observation:
        """Everything is seen, at once, by exact clocks."""
        return cls(0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """One synthetic cluster with one training job on it."""

    job: JobName = _JOB
    seed: int = 0
    first_second: int = 1_767_225_600
    """Unix second in which the job starts."""
    shape: Shape = field(default_factory=Shape)
    work: Work = field(default_factory=Work)
    hardware: Hardware = field(default_factory=Hardware)
    differences: Differences = field(default_factory=Differences)
    weather: Weather = field(default_factory=Weather)
    observation: Observation = field(default_factory=Observation)
    faults: tuple[FaultPlan, ...] = ()

    def undisturbed(self) -> ClusterConfig:
        """The same cluster in calm weather, seen without error."""
        return replace(self, weather=Weather.calm(), observation=Observation.perfect())


def small(seed: int = 0) -> ClusterConfig:
    """Four nodes without pipeline, steps of about two seconds."""
    return ClusterConfig(seed=seed, shape=Shape(nodes=4, pipeline_stages=1, nodes_per_switch=2))


def large(seed: int = 0) -> ClusterConfig:
    """512 nodes, eight pipeline stages, four expert groups, steps of about six seconds."""
    shape = Shape(nodes=512, pipeline_stages=8, expert_groups=4, nodes_per_switch=16)
    work = Work(
        compute_seconds=4.2, microbatches=64, gradient_bytes=1.5e10, tensor_bytes=5.0e11,
        samples=4096, optimizer_seconds=0.12, checkpoint_every_seconds=1800.0,
        checkpoint_seconds=18.0,
    )  # fmt: skip
    return ClusterConfig(seed=seed, shape=shape, work=work)


PRESETS = {"small": small, "large": large}


def require(condition: bool, name: str, value: object, remedy: str) -> None:
    """Raise ClusterSettingError unless the condition holds."""
    if not condition:
        raise ClusterSettingError(f"synthetic cluster: {name} = {value!r}: {remedy}")
