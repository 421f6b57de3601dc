"""What the host does meanwhile: processor, memory, disks, ordinary network."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from paramedic.ingest.synthetic.arrays import Floats
from paramedic.ingest.synthetic.causes import Causes
from paramedic.ingest.synthetic.configuration import ClusterConfig
from paramedic.ingest.synthetic.individuals import Individuals
from paramedic.ingest.synthetic.living import Shares

_LOAD_SECONDS = 60.0
_LEAK_BYTES_PER_SECOND = 900.0


@dataclass(frozen=True, slots=True)
class Host:
    """One second of each host; (nodes,). Rates a second, durations in seconds."""

    cpu_ratio: Floats
    load: Floats
    memory_ratio: Floats
    filesystem_ratio: Floats
    resident_bytes: Floats
    switches: Floats
    reads: Floats
    writes: Floats
    read_bytes: Floats
    written_bytes: Floats
    read_seconds: Floats
    """Summed over the reads."""
    write_seconds: Floats
    received_bytes: Floats
    sent_bytes: Floats
    retransmits: Floats
    drops: Floats
    round_trip_seconds: Floats


def host_of(
    config: ClusterConfig,
    individuals: Individuals,
    causes: Causes,
    shares: Shares,
    load_before: Floats,
    second: int,
    rng: np.random.Generator,
) -> Host:
    """The second at every host."""
    nodes, gpus = shares.busy.shape
    cores = config.hardware.cores
    noise = 1.0 + 0.04 * rng.standard_normal((6, nodes))
    saving = shares.saving.mean(axis=1)
    working = 1.0 - shares.idle.mean(axis=1) - saving
    loading = shares.work.mean(axis=1) * config.work.compute_seconds
    threads = individuals.host * gpus * (0.35 + working + 0.5 * loading + 1.2 * saving)
    cpu = np.clip(threads * noise[0] / (1.6 * cores) + causes.stolen_cpu_ratio, 0.0, 1.0)
    writing = 3.0e6 + 2.5e9 * saving + causes.disk_bytes_per_second
    reading = 6.0e6 + 1.5e8 * loading
    reads = rng.poisson(reading / 2.5e5)
    writes = rng.poisson(writing / 5.0e5)
    crowded = 1.0 + writing / 1.5e9
    delay = individuals.host * causes.storage_slowdown * crowded
    stream = (4.0e6 + 9.0e7 * loading) * noise[3]
    return Host(
        cpu_ratio=cpu,
        load=load_before + (cpu * cores - load_before) * (1.0 - exp(-1.0 / _LOAD_SECONDS)),
        memory_ratio=np.clip(individuals.used_memory_ratio + 0.12 * saving
                             + 2.0e-7 * second + 0.0004 * (noise[1] - 1.0)
                             + causes.leaked_memory_ratio, 0.0, 1.0),
        filesystem_ratio=np.clip(individuals.used_filesystem_ratio + 4.0e-8 * second, 0.0, 1.0),
        resident_bytes=gpus * (1.1e10 + _LEAK_BYTES_PER_SECOND * second) * individuals.host
        * causes.has_process.mean(axis=1),
        switches=np.rint((9.0e3 + 2.6e4 * cpu) * individuals.host * noise[2]
                         + causes.switches_per_second),
        reads=reads.astype(float),
        writes=writes.astype(float),
        read_bytes=reads * 2.5e5,
        written_bytes=writes * 5.0e5,
        read_seconds=reads * 2.2e-4 * delay * causes.read_slowdown * np.abs(noise[4]),
        write_seconds=writes * 5.5e-4 * delay * np.abs(noise[5]),
        received_bytes=np.rint(stream),
        sent_bytes=np.rint(0.08 * stream + 2.0e5),
        retransmits=rng.poisson(causes.network_loss).astype(float),
        drops=rng.poisson(0.02 * causes.network_loss).astype(float),
        round_trip_seconds=8.0e-5 / causes.fabric_ratio * np.abs(noise[3]),
    )  # fmt: skip
