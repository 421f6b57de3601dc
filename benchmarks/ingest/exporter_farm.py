"""Serves the pages of many exporters from one process, each on a port of its own."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import sys
from functools import partial

_LABELS = (
    'gpu="{gpu}",UUID="GPU-{port:08d}-0000-0000-0000-{gpu:012d}",pci_bus_id="00000000:{gpu:02X}:00.0",'
    'device="nvidia{gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="node-{port}",'
    'DCGM_FI_DRIVER_VERSION="580.105.08",container="",namespace="",pod=""'
)
_NAMES = (
    "SM_CLOCK MEM_CLOCK MEMORY_TEMP GPU_TEMP POWER_USAGE TOTAL_ENERGY_CONSUMPTION"
    " PCIE_REPLAY_COUNTER GPU_UTIL MEM_COPY_UTIL ENC_UTIL DEC_UTIL XID_ERRORS FB_FREE FB_USED"
    " FB_RESERVED NVLINK_BANDWIDTH_TOTAL UNCORRECTABLE_REMAPPED_ROWS CORRECTABLE_REMAPPED_ROWS"
    " ROW_REMAP_FAILURE ECC_SBE_VOL_TOTAL ECC_DBE_VOL_TOTAL CLOCKS_EVENT_REASONS"
)
_SHARES = (
    "GR_ENGINE_ACTIVE SM_ACTIVE PIPE_TENSOR_ACTIVE DRAM_ACTIVE PIPE_FP16_ACTIVE PIPE_FP32_ACTIVE"
    " PCIE_TX_BYTES PCIE_RX_BYTES NVLINK_TX_BYTES NVLINK_RX_BYTES"
)
_FIELDS = (
    *(f"DCGM_FI_DEV_{n}" for n in _NAMES.split()),
    *(f"DCGM_FI_PROF_{n}" for n in _SHARES.split()),
)
_VARIANTS = 5


def answer(port: int, gpus: int, variant: int) -> bytes:
    """A whole HTTP answer; its values differ from variant to variant."""
    lines: list[str] = []
    for number, field in enumerate(_FIELDS):
        lines += [f"# HELP {field} As dcgm-exporter says it.", f"# TYPE {field} gauge"]
        for gpu in range(gpus):
            labels = _LABELS.format(gpu=gpu, port=port)
            lines.append(f"{field}{{{labels}}} {number * 10 + gpu + variant / 8:f}")
    body = ("\n".join(lines) + "\n").encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


class Connection(asyncio.Protocol):
    """Answers every request on a connection that is kept."""

    def __init__(self, answers: list[bytes]) -> None:
        self._answers = itertools.cycle(answers)
        self._asked = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody scrapes."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """A request, or a part of one."""
        self._asked += data
        while b"\r\n\r\n" in self._asked:
            _, _, self._asked = self._asked.partition(b"\r\n\r\n")
            self._transport.write(next(self._answers))


async def serve(exporters: int, gpus: int, seconds: float) -> None:
    """Tell the ports on standard output, then serve."""
    loop = asyncio.get_running_loop()
    servers = []
    for number in range(exporters):
        answers = [answer(number, gpus, variant) for variant in range(_VARIANTS)]
        made = await loop.create_server(partial(Connection, answers), "127.0.0.1", 0)
        servers.append(made)
    ports = [server.sockets[0].getsockname()[1] for server in servers]
    sys.stdout.write(" ".join(map(str, ports)) + "\n")
    sys.stdout.flush()
    await asyncio.sleep(seconds)


def main() -> None:
    """Serve for so long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exporters", type=int, required=True)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--seconds", type=float, required=True)
    chosen = parser.parse_args()
    asyncio.run(serve(chosen.exporters, chosen.gpus, chosen.seconds))


if __name__ == "__main__":
    main()
