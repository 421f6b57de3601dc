"""Scrapes many exporters once a second from one process: how many pages are read in their second.

A page counts when it was asked for, received, parsed and handed on within the second it belongs
to; a second in which an exporter was not asked, or did not answer, counts against it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

from paramedic.ingest.contract import NodeName
from paramedic.ingest.sources.port import NodeFact, RawPage
from paramedic.ingest.sources.scraping.source import ScrapeSettings, ScrapeSource
from paramedic.ingest.sources.scraping.targets import targets_of_lines

_FARM = Path(__file__).with_name("exporter_farm.py")
_WARM_UP_PAGES = 3
_WARM_UP_SECONDS = 60


class CountingSink:
    """Notes of each page only when it was asked for and when it was there."""

    def __init__(self) -> None:
        self.pages: list[tuple[float, float]] = []
        self.silences: list[str] = []
        self.samples = 0

    def page(self, page: RawPage) -> None:
        """A page."""
        self.pages.append((page.taken_seconds, time.time()))
        self.samples = len(page.values)

    def fact(self, fact: NodeFact) -> None:
        """None is expected."""
        raise AssertionError(fact)

    def silent(self, origin: str, default_node: NodeName | None, reason: str) -> None:
        """An exporter did not answer."""
        self.silences.append(f"{origin} {default_node}: {reason}")


def result(sink: CountingSink, exporters: int, begin: int, seconds: int) -> dict[str, object]:
    """What is counted of the seconds that were measured."""
    window = range(begin, begin + seconds)
    pages = [(asked, there) for asked, there in sink.pages if int(asked) in window]
    inside = sum(int(asked) == int(there) for asked, there in pages)
    took = sorted(there - asked for asked, there in pages)
    return {
        "exporters": exporters,
        "seconds": seconds,
        "samples_per_page": sink.samples,
        "inside_their_second": round(inside / (exporters * seconds), 5),
        "pages": len(pages),
        "silences": len(sink.silences),
        "scrape_p50_seconds": round(took[len(took) // 2], 4),
        "scrape_p99_seconds": round(took[int(len(took) * 0.99)], 4),
    }


def measure(ports: list[str], seconds: int) -> dict[str, object]:
    """Scrape for so long, after a warm-up."""
    targets = targets_of_lines([f"127.0.0.1:{port}" for port in ports], "farm")
    source = ScrapeSource(targets, ScrapeSettings(), time.time)
    sink, stop = CountingSink(), threading.Event()
    thread = threading.Thread(target=source.run, args=(sink, stop))
    thread.start()
    _warm_up(sink, len(ports))
    begin, cpu = int(time.time()) + 1, time.process_time()
    time.sleep(seconds + 1.5)
    cpu = time.process_time() - cpu
    stop.set()
    thread.join()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found = result(sink, len(ports), begin, seconds)
    return {**found, "cores": round(cpu / (seconds + 1.5), 3), "peak_mebibytes": round(peak)}


def _warm_up(sink: CountingSink, exporters: int) -> None:
    """An exporter's first page costs more than those after it, whose series are known."""
    deadline = time.monotonic() + _WARM_UP_SECONDS
    while len(sink.pages) < _WARM_UP_PAGES * exporters and time.monotonic() < deadline:
        time.sleep(0.5)


def main() -> None:
    """Start the farm, scrape it, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exporters", type=int, default=500)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=30)
    chosen = parser.parse_args()
    lifetime = chosen.seconds + _WARM_UP_SECONDS + 30
    command = [sys.executable, str(_FARM), f"--exporters={chosen.exporters}"]
    command += [f"--gpus={chosen.gpus}", f"--seconds={lifetime}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as farm:
        assert farm.stdout is not None
        try:
            figures = measure(farm.stdout.readline().split(), chosen.seconds)
        finally:
            farm.kill()
    print(json.dumps(figures))  # noqa: T201


if __name__ == "__main__":
    main()
