"""What makes one undisturbed run comparable with another: everything that its losses depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ReferenceKey:
    """Two runs with equal keys have equal loss curves."""

    script: str
    """Digest of the training script."""
    trainer_library: str
    """Digest of the sources of the trainer library."""
    steps: int
    ranks: int
    torch_version: str
    processor: str
    """Model name: kernels differ between processors, and so do the last bits."""

    def digest(self) -> str:
        """A name for the cache folder."""
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest_files(paths: Iterable[Path]) -> str:
    """One digest over names and contents; the order of the paths does not matter."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def processor_model(cpuinfo: str) -> str:
    """The model name in the text of /proc/cpuinfo, or `unknown`.

    >>> processor_model("processor : 0\\nmodel name\\t: Some CPU\\n")
    'Some CPU'
    """
    for line in cpuinfo.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() in ("model name", "Model", "CPU implementer"):
            return value.strip()
    return "unknown"
