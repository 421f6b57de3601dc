"""Exporters to scrape: addresses from a list or a file, one a line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import SourceError

_METRICS_PATH = "/metrics"
_EXAMPLE = "write host:port or http(s)://host:port/path, and node=NAME behind it to name its node"


class TargetsError(SourceError):
    """A list of exporters that cannot be used; the message names the line."""


@dataclass(frozen=True, slots=True)
class Target:
    """One exporter."""

    url: str
    node: NodeName
    """As the line names it, else the host in the address: of series whose labels name no node."""


def read_targets(path: Path) -> tuple[Target, ...]:
    """The exporters of a file. Raises TargetsError when it cannot be read, or a line of it."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TargetsError(f"{path}: {error}: name a text file with one exporter a line") from error
    return targets_of_lines(lines, str(path))


def targets_of_lines(lines: Iterable[str], origin: str) -> tuple[Target, ...]:
    """The exporters of some lines: `host:port` or a URL, and `node=NAME` where its page
    names no node or another; `#` begins a comment; each once.

    Raises TargetsError naming `origin` and the number of a line that is neither, or if none is.

    >>> [target.url for target in targets_of_lines(["node-1:9400  # rack 7"], "hosts")]
    ['http://node-1:9400/metrics']
    """
    targets: dict[str, Target] = {}
    for number, line in enumerate(lines, 1):
        text = _without_comment(line)
        if text:
            target = _target(text, f"{origin}, line {number}")
            targets.setdefault(target.url, target)
    if not targets:
        raise TargetsError(f"{origin}: no exporter in it: {_EXAMPLE}, one a line")
    return tuple(targets.values())


def _without_comment(line: str) -> str:
    """A `#` inside of a word is part of it."""
    words = line.lstrip("\ufeff").split()
    comment = next((at for at, word in enumerate(words) if word.startswith("#")), len(words))
    return " ".join(words[:comment])


def _target(text: str, where: str) -> Target:
    text, _, named = text.partition(" node=")
    if " " in text or " " in named:
        raise TargetsError(f"{where}: {text!r} is more than one word: {_EXAMPLE}")
    parts = _split(text if "://" in text else f"http://{text}", where)
    if "://" not in text and parts.port is None:
        raise TargetsError(f"{where}: {text!r} names no port: {_EXAMPLE}")
    path = parts.path if parts.path not in {"", "/"} else _METRICS_PATH
    url = parts._replace(path=path, fragment="").geturl()
    return Target(url, NodeName(named or parts.hostname or ""))


def _split(url: str, where: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError as error:
        raise TargetsError(f"{where}: {url!r}: {error}: {_EXAMPLE}") from error
    if parts.username is not None:
        raise TargetsError(f"{where}: take the password out of the address: set username, password")
    if not usable:
        raise TargetsError(f"{where}: {url!r} is no address of an exporter: {_EXAMPLE}")
    return parts
