"""How GPUs and their links fail. Each function is one mechanism, drawn onto a sketch."""

from __future__ import annotations

from benchmarks.other_physics.influences import Knob, Mode
from benchmarks.other_physics.sketch import GPU_ROWS, Sketch


def correctable_storm(case: Sketch) -> None:
    """Corrected memory errors pile up and slow the card; then one cannot be corrected."""
    case.one_card()
    case.push(Knob.SPEED, case.between(0.6, 0.88, "speed"), ramp=15.0)
    case.mark("gpu_ecc_correctable_total", Mode.COUNT, case.between(0.2, 4.0, "errors a second"))
    if case.dice.random() < 0.3:
        case.afterwards("gpu_row_remap_pending", Mode.SET, 1.0)
    case.afterwards("gpu_ecc_uncorrectable_total", Mode.ADD, 1.0)
    case.xid(48 if case.halt is not None else 63)


def page_retirement(case: Sketch) -> None:
    """The driver takes pages away, and the card stands still meanwhile."""
    case.one_card()
    duty = case.between(0.2, 0.5)
    case.push(
        Knob.STALL, case.between(0.5, 1.5, "stall"), period=case.between(8.0, 20.0), duty=duty
    )
    case.mark("gpu_ecc_correctable_total", Mode.COUNT, case.between(0.1, 2.0))
    case.mark("gpu_ecc_uncorrectable_total", Mode.COUNT, 0.03)
    case.xid(94)


def illegal_access(case: Sketch) -> None:
    """Kernels fail and are tried again, until the process gives up."""
    case.one_card()
    case.push(Knob.STALL, case.between(0.3, 1.2, "stall"), period=case.between(5.0, 15.0), duty=0.6)
    case.mark("cpu_utilization_ratio", Mode.ADD, case.between(0.05, 0.2))
    case.mark("context_switches_per_second", Mode.SCALE, case.between(1.3, 2.0))
    case.xid(int(case.dice.choice([13, 31, 43])))
    _leave(case)


def launch_overhead(case: Sketch) -> None:
    """Kernels are launched late, so that the card waits for its host."""
    case.one_card()
    case.push(Knob.STALL, case.between(0.2, 0.7, "stall"), ramp=10.0)
    case.mark("cpu_utilization_ratio", Mode.ADD, case.between(0.05, 0.15))
    _leave(case)


def _leave(case: Sketch) -> None:
    case.afterwards("gpu_memory_used_bytes", Mode.SCALE, 0.02)
    if case.halt is not None and case.dice.random() < 0.5:
        case.tell("process_exit", late=case.between(1.0, 8.0), exit_code=1)


def stuck_clock(case: Sketch) -> None:
    """Cards stay at a low clock."""
    case.perhaps_one_card()
    case.push(Knob.CLOCK, case.between(0.6, 0.88, "clock"))


def lost_tensor_path(case: Sketch) -> None:
    """A part of the work falls back from the tensor cores to slower units."""
    case.perhaps_one_card()
    case.push(Knob.TENSOR, case.between(0.4, 0.85, "tensor share"), ramp=5.0)


def power_brake(case: Sketch) -> None:
    """The power supply asks the cards to draw less."""
    case.push(Knob.CLOCK, case.between(0.55, 0.8, "clock"), ramp=3.0)
    case.mark("gpu_throttle_reasons", Mode.SET, 128.0)


def lost_lanes(case: Sketch) -> None:
    """A bus runs at half or a quarter of its width."""
    case.perhaps_one_card()
    width = float(case.dice.choice([0.5, 0.25], p=[0.4, 0.6]))
    case.sizes.append(f"width {width}")
    case.push(Knob.PCIE, width)
    case.mark("pfc_tx_packets_per_second", Mode.SCALE, case.between(3.0, 20.0, "pause frames"))
    if case.dice.random() < 0.3:
        case.mark("gpu_pcie_replays_per_second", Mode.COUNT, case.between(0.05, 1.0))


def replaying_bus(case: Sketch) -> None:
    """Packets on the bus are damaged and sent again."""
    case.one_card()
    case.push(Knob.PCIE, case.between(0.25, 0.6, "bus"), ramp=10.0)
    case.mark("gpu_pcie_replays_per_second", Mode.COUNT, case.between(2.0, 60.0, "replays"))
    case.mark("pfc_tx_packets_per_second", Mode.SCALE, case.between(2.0, 8.0))


def card_falls_off(case: Sketch) -> None:
    """A card answers its exporter now and then, and then no more."""
    case.one_card()
    case.push(
        Knob.STALL, case.between(0.3, 1.0, "stall"), period=case.between(10.0, 25.0), duty=0.5
    )
    case.mark("gpu_pcie_replays_per_second", Mode.COUNT, case.between(0.5, 20.0))
    case.mark(GPU_ROWS, Mode.ABSENT, 0.0, period=case.between(7.0, 15.0), duty=0.3)
    case.afterwards(GPU_ROWS, Mode.ABSENT)
    if case.dice.random() < 0.7:
        case.tell("xid", code=79)


def nvlink_replays(case: Sketch) -> None:
    """A link between cards repeats what it sends, and is slower for it."""
    case.one_card()
    case.push(Knob.NVLINK, case.between(0.25, 0.7, "link"))
    case.mark("gpu_nvlink_errors_per_second", Mode.COUNT, case.between(3.0, 200.0, "errors"))
    case.xid(74)


def nvlink_lanes(case: Sketch) -> None:
    """Links of a card go down one after the other."""
    case.one_card()
    case.push(Knob.NVLINK, case.between(0.2, 0.5, "link"), ramp=40.0)
    case.push(Knob.STALL, case.between(0.1, 0.4), period=12.0, duty=0.4)
    case.mark("gpu_nvlink_errors_per_second", Mode.COUNT, case.between(0.5, 10.0, "errors"))


def failing_fan(case: Sketch) -> None:
    """Heat stays in the chassis until the cards slow down."""
    case.perhaps_one_card(0.4)
    case.push(Knob.HEAT, case.between(0.45, 0.8, "heat"), ramp=case.between(10.0, 40.0))
    if case.dice.random() < 0.5:
        case.mark("gpu_throttle_reasons", Mode.SET, 64.0, ramp=0.0)


def dried_paste(case: Sketch) -> None:
    """One chip no longer gives its heat away, and is held back by its own protection."""
    case.one_card()
    case.push(Knob.HEAT, case.between(0.4, 0.7, "heat"), ramp=20.0)
    case.push(Knob.CLOCK, case.between(0.75, 0.92, "clock"), ramp=40.0)
