"""What arrives, and who says nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.ingest.doctor.checks import Check, Level, Remedy, counted, named
from paramedic.ingest.doctor.exporters import Maker

if TYPE_CHECKING:
    from paramedic.ingest.doctor.examination import Examination
    from paramedic.ingest.doctor.exporters import Speaker

_SUBJECT = "sources"
_REASONS_SHOWN = 2
_PART = Remedy(
    "doctor's arguments: look for longer, or at a part of the cluster",
    ("--seconds 120", """--matchers 'instance=~"gpu-node-1.*"'"""),
)


def check_arrivals(seen: Examination) -> Iterator[Check]:
    """Exporters and their releases, then what is down."""
    if not seen.pages:
        yield _nothing(seen)
        return
    yield from _exporters(seen)
    yield from _mixed(seen)
    if seen.silent:
        yield _silent(seen)


def check_reading(behind_seconds: float) -> Iterator[Check]:
    """Whether all that came could be looked at."""
    if behind_seconds > 0:
        yield Check(
            _SUBJECT,
            Level.WARNING,
            f"what was read is of {behind_seconds:.0f} s ago, more comes than could be looked at:"
            " what went down since is not known",
            (_PART,),
        )


def exporters_seen(seen: Examination) -> dict[Speaker, int]:
    """Every kind of exporter, and at how many places it speaks."""
    return dict(Counter(one for speakers in seen.speakers.values() for one in speakers))


def _nothing(seen: Examination) -> Check:
    reasons = named((one.reason for one in seen.silent.values()), _REASONS_SHOWN)
    text = f"nothing has arrived: {reasons}" if reasons else "nothing has arrived"
    return Check(_SUBJECT, Level.MISSING, text)


def _exporters(seen: Examination) -> Iterator[Check]:
    places: Counter[str] = Counter()
    for speaker, count in exporters_seen(seen).items():
        places[str(speaker)] += count
    for words, count in sorted(places.items()):
        yield Check(_SUBJECT, Level.OK, f"{words}, at {counted(count, 'place')}")


def _mixed(seen: Examination) -> Iterator[Check]:
    mixed = [origin for origin, said in seen.speakers.items() if any(one.is_mixed for one in said)]
    if mixed:
        yield Check(
            _SUBJECT,
            Level.WARNING,
            f"two dialects at once at {named(mixed)}: of each metric the name that came first is"
            " kept; use one counters file",
        )


def _silent(seen: Examination) -> Check:
    origins = list(seen.silent)
    reasons = Counter(one.reason for one in seen.silent.values())
    told = "; ".join(reason for reason, _ in reasons.most_common(_REASONS_SHOWN))
    verb = "gives" if len(origins) == 1 else "give"
    return Check(
        _SUBJECT,
        Level.MISSING,
        f"{counted(len(origins), 'place')} {verb} nothing and cannot be watched: {told}",
        (Remedy("on the machine that scrapes", (_try(origins[0]),)),),
    )


def _try(origin: str) -> str:
    """A command that asks the exporter itself."""
    address = origin.split(maxsplit=1)[0]
    url = address if "://" in address else f"http://{address}/metrics"
    return f"curl -sS {url} | head"


def gpu_speakers(seen: Examination) -> list[Speaker]:
    """The exporters of GPU metrics, each kind once."""
    makers = (Maker.DCGM, Maker.AMD, Maker.NVIDIA_SMI)
    return [one for one in sorted(exporters_seen(seen)) if one.maker in makers]
