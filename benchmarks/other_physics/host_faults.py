"""How hosts, their disks and their network fail. Each function is one mechanism."""

from __future__ import annotations

from benchmarks.other_physics.influences import Knob, Mode
from benchmarks.other_physics.sketch import GPU_ROWS, NODE_ROWS, RANK_ROWS, Sketch, load_speed


def port_down(case: Sketch) -> None:
    """One of several ports is lost; the others carry its traffic."""
    case.push(Knob.NIC, case.between(0.2, 0.7, "network"))
    case.mark("ib_link_downed_total", Mode.ADD, 1.0)
    case.mark("tcp_retransmits_per_second", Mode.COUNT, case.between(3.0, 30.0))
    case.mark("pfc_tx_packets_per_second", Mode.SCALE, case.between(2.0, 8.0))


def packet_loss(case: Sketch) -> None:
    """The network card loses packets, and everything is sent twice."""
    case.push(Knob.NIC, case.between(0.3, 0.7, "network"), ramp=8.0)
    case.mark("tcp_retransmits_per_second", Mode.COUNT, case.between(10.0, 150.0, "retransmits"))
    case.mark("network_drops_per_second", Mode.COUNT, case.between(2.0, 40.0))
    case.mark("network_round_trip_seconds", Mode.SCALE, case.between(1.5, 5.0))


def flapping_optics(case: Sketch) -> None:
    """Light comes and goes; each time the link is trained anew."""
    period, duty = case.between(10.0, 40.0, "period"), case.between(0.1, 0.3)
    case.push(Knob.NIC, case.between(0.05, 0.3, "network"), period=period, duty=duty)
    case.mark("ib_link_downed_total", Mode.COUNT, 1.0 / period)
    case.mark("ib_symbol_errors_per_second", Mode.COUNT, case.between(2.0, 60.0), 0.0, period, 0.6)
    case.mark("tcp_retransmits_per_second", Mode.COUNT, case.between(5.0, 40.0), 0.0, period, 0.5)


def dirty_optics(case: Sketch) -> None:
    """Too little light: symbols are wrong and packets are lost."""
    case.push(Knob.NIC, case.between(0.3, 0.75, "network"), ramp=20.0)
    case.mark("ib_symbol_errors_per_second", Mode.COUNT, case.between(5.0, 150.0, "errors"))
    case.mark("network_drops_per_second", Mode.COUNT, case.between(1.0, 10.0))


def slow_disk(case: Sketch) -> None:
    """A disk answers late."""
    times = case.between(3.0, 30.0, "latency")
    case.push(Knob.LOAD, load_speed(case.job, case.between(0.1, 0.6)), ramp=10.0)
    case.mark("disk_read_latency_seconds", Mode.SCALE, times)
    case.mark("disk_write_latency_seconds", Mode.SCALE, case.between(1.5, times))
    case.mark("cpu_utilization_ratio", Mode.ADD, case.between(0.0, 0.08))
    case.mark("load_average", Mode.SCALE, case.between(1.3, 3.0), ramp=60.0)


def storage_timeouts(case: Sketch) -> None:
    """The distributed file system keeps this client waiting."""
    exposed = case.between(0.3, 1.0, "steps waited")
    period = case.between(20.0, 50.0)
    case.push(Knob.LOAD, load_speed(case.job, exposed), period=period, duty=0.7)
    case.mark("disk_read_latency_seconds", Mode.SCALE, case.between(4.0, 15.0), 0.0, period, 0.7)
    case.mark("tcp_throughput_bytes_per_second", Mode.SCALE, case.between(0.1, 0.5))


def goes_silent(case: Sketch) -> None:
    """A machine is harder and harder to reach, and then gone."""
    case.push(Knob.NIC, case.between(0.3, 0.7, "network"))
    case.mark("network_round_trip_seconds", Mode.SCALE, case.between(2.0, 10.0))
    case.mark("tcp_retransmits_per_second", Mode.COUNT, case.between(5.0, 60.0))
    period = case.between(9.0, 20.0)
    case.mark(NODE_ROWS, Mode.ABSENT, 0.0, period=period, duty=0.3)
    case.mark(GPU_ROWS, Mode.ABSENT, 0.0, period=period, duty=0.3)
    vanishes(case)


def vanishes(case: Sketch) -> None:
    """A machine is gone from one moment to the next."""
    for rows in (NODE_ROWS, GPU_ROWS, RANK_ROWS):
        case.afterwards(rows, Mode.ABSENT)


def stolen_processor(case: Sketch) -> None:
    """Somebody else computes on the host."""
    case.push(Knob.STALL, case.between(0.15, 0.6, "stall"), ramp=5.0)
    case.push(Knob.LOAD, load_speed(case.job, case.between(0.0, 0.3)))
    case.mark("cpu_utilization_ratio", Mode.ADD, case.between(0.25, 0.6, "cpu"))
    case.mark("load_average", Mode.SCALE, case.between(2.0, 6.0), ramp=60.0)
    case.mark("context_switches_per_second", Mode.SCALE, case.between(1.6, 4.0))


def leaking_memory(case: Sketch) -> None:
    """Memory runs full; the host swaps, and everything on it gets slower."""
    ramp = case.between(60.0, 150.0)
    case.mark("memory_used_ratio", Mode.ADD, case.between(0.25, 0.5, "memory"), ramp=ramp)
    case.push(Knob.STALL, case.between(0.2, 0.8, "stall"), ramp=ramp)
    case.mark("disk_throughput_bytes_per_second", Mode.SCALE, case.between(2.0, 8.0), ramp=ramp)
    if case.halt is not None:
        case.tell("kernel_log", message="Out of memory: Killed process (python)")
        process_dies(case)


def process_dies(case: Sketch) -> None:
    """One process ends, for reasons of its own."""
    if case.gpu is None:
        case.one_card()
    case.afterwards(RANK_ROWS, Mode.ABSENT)
    case.afterwards("gpu_memory_used_bytes", Mode.SCALE, 0.02)
    if case.dice.random() < 0.6:
        case.tell("process_exit", late=case.between(0.2, 3.0), signal=9)


def deadlock(case: Sketch) -> None:
    """A rank's host thread stands still; its card runs dry while the others wait."""
    case.one_card()
    _hangs(case)


def stuck_kernel(case: Sketch) -> None:
    """A kernel never ends: the card looks busy, the others wait for it."""
    case.one_card()
    _hangs(case)
    case.afterwards("gpu_utilization_ratio", Mode.SET, 1.0)
    case.afterwards("gpu_graphics_active_ratio", Mode.SET, 1.0)
    case.afterwards("gpu_sm_active_ratio", Mode.SET, case.between(0.4, 0.95))
    case.afterwards("gpu_power_watts", Mode.ADD, case.job.card.limit_watts * case.between(0.2, 0.4))


def _hangs(case: Sketch) -> None:
    """The heart-beat's thread stands still with the rest where the interpreter is locked."""
    if case.dice.random() < 0.5:
        case.afterwards("heartbeat", Mode.HOLD)


def busy_loop(case: Sketch) -> None:
    """A rank hangs in its host's code, at full speed, after it has stammered for a while."""
    case.one_card()
    _hangs(case)
    case.push(
        Knob.STALL, case.between(0.4, 1.2, "stall"), period=case.between(10.0, 30.0), duty=0.5
    )
    case.mark("cpu_utilization_ratio", Mode.ADD, case.between(0.08, 0.2))


def slow_host(case: Sketch) -> None:
    """Processes sit on the wrong socket: everything that the host does takes longer."""
    case.push(Knob.STALL, case.between(0.15, 0.5, "stall"))
    case.mark("context_switches_per_second", Mode.SCALE, case.between(1.2, 1.8))


def slow_card(case: Sketch) -> None:
    """A card is slower than its sisters, at the same clock, and nothing tells why."""
    case.one_card()
    case.push(Knob.SPEED, case.between(0.6, 0.85, "speed"), ramp=20.0)


def dead_exporters(case: Sketch) -> None:
    """The node's telemetry stops; the job goes on."""
    case.mark(GPU_ROWS, Mode.ABSENT, 0.0)
    if case.dice.random() < 0.6:
        case.mark(NODE_ROWS, Mode.ABSENT, 0.0)


def sick_switch(case: Sketch) -> None:
    """All machines behind a switch have a slow and lossy network."""
    case.push(Knob.NIC, case.between(0.2, 0.6, "network"))
    case.mark("tcp_retransmits_per_second", Mode.COUNT, case.between(10.0, 100.0, "retransmits"))
    case.mark("network_drops_per_second", Mode.COUNT, case.between(2.0, 20.0))
    case.mark("network_round_trip_seconds", Mode.SCALE, case.between(2.0, 8.0))
    case.mark("pfc_tx_packets_per_second", Mode.SCALE, case.between(2.0, 8.0))
