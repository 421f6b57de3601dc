"""A host at the end of a link of its own: a network namespace whose link can be slow, or unplugged.

For root on Linux, with `ip` and `tc` (Debian package iproute2).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_LONGEST_QUEUE_SECONDS = 2
"""What has to wait longer at a throttled end is dropped."""


@dataclass(frozen=True)
class Link:
    """Two ends: `here` is this machine's, `there` is the far host's."""

    name: str
    here: str
    there: str
    near_device: str
    far_device: str

    @property
    def command(self) -> list[str]:
        """What a command of the far host begins with."""
        return ["ip", "netns", "exec", self.name]

    def throttle(self, kilobits_per_second: int) -> None:
        """Both ways no more than this."""
        for command, device in (([], self.near_device), (self.command, self.far_device)):
            run(
                *command, "tc", "qdisc", "replace", "dev", device, "root", "tbf",
                "rate", f"{kilobits_per_second}kbit", "burst", "4kb",
                "latency", f"{_LONGEST_QUEUE_SECONDS}s",
            )  # fmt: skip

    def free(self) -> None:
        """As fast as it can be."""
        for command, device in (([], self.near_device), (self.command, self.far_device)):
            run(*command, "tc", "qdisc", "del", "dev", device, "root")

    def unplug(self) -> None:
        """Nothing passes any more, and this machine goes on talking to itself."""
        run(*self.command, "ip", "link", "set", self.far_device, "down")


def why_there_is_none() -> str:
    """Why no link can be made here; empty where one can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [program for program in ("ip", "tc") if shutil.which(program) is None]
    if missing:
        return f"{missing[0]} is not installed (Debian package iproute2)"
    name = _name_of(os.getpid())
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    if made.returncode == 0:
        run("ip", "netns", "del", name)
    return made.stderr.decode().strip()


@contextmanager
def link() -> Iterator[Link]:
    """A far host for as long as the context lasts."""
    number = os.getpid()
    name, network = _name_of(number), f"10.{200 + number // 256 % 50}.{number % 256}"
    found = Link(name, f"{network}.1", f"{network}.2", f"{name}n", f"{name}f")
    run("ip", "netns", "add", name)
    try:
        run(
            "ip", "link", "add", found.near_device, "type", "veth",
            "peer", "name", found.far_device, "netns", name,
        )  # fmt: skip
        for command, device, address in (
            ([], found.near_device, found.here),
            (found.command, found.far_device, found.there),
        ):
            run(*command, "ip", "addr", "add", f"{address}/30", "dev", device)
            run(*command, "ip", "link", "set", device, "up")
        run(*found.command, "ip", "link", "set", "lo", "up")
        yield found
    finally:
        run("ip", "netns", "del", name)


def run(*command: str) -> None:
    """Raises CalledProcessError, with what the command said."""
    subprocess.run(command, check=True, timeout=20, capture_output=True)


def _name_of(number: int) -> str:
    return f"pm{number}"
