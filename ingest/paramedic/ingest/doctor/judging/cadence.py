"""How often the data really say something new, and what that means for detection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from paramedic.ingest.doctor.checks import Check, Level, Remedy, counted
from paramedic.ingest.doctor.exporters import Maker
from paramedic.ingest.doctor.promise import PROMISED_SECONDS, detection_seconds, is_fast_enough
from paramedic.ingest.doctor.rhythm import middle

if TYPE_CHECKING:
    from paramedic.ingest.doctor.examination import Examination
    from paramedic.ingest.doctor.exporters import Speaker
    from paramedic.ingest.doctor.rhythm import Rhythm

_BEST_SECONDS = 1.5
"""Up to this, slots are one second wide or two."""
_SHARES = ((0.9, "nearly all"), (0.7, "three of four"), (0.6, "two of three"), (0.4, "half"),
           (0.28, "one of three"), (0.0, "some"))  # fmt: skip


def check_cadence(seen: Examination) -> Iterator[Check]:
    """Of GPUs, then of hosts."""
    for is_gpu, subject in ((True, "cadence of GPUs"), (False, "cadence of hosts")):
        rhythms = seen.rhythms.of(gpus=is_gpu)
        if rhythms:
            yield _check(seen, subject, rhythms, is_gpu=is_gpu)


def slowest_cadence(seen: Examination) -> float | None:
    """The interval of the GPU data that comes most rarely (seconds); None while it is not known."""
    known = [one.cadence for one in seen.rhythms.of(gpus=True)]
    return max((one for one in known if one is not None), default=None)


def share_in_words(share: float) -> str:
    """A share as people say it.

    >>> share_in_words(0.5), share_in_words(0.96)
    ('half', 'nearly all')
    """
    return next(words for limit, words in _SHARES if share >= limit)


def _check(seen: Examination, subject: str, rhythms: Sequence[Rhythm], *, is_gpu: bool) -> Check:
    known = [one for one in rhythms if one.cadence is not None]
    if not known:
        return Check(
            subject, Level.WARNING, "one page tells no cadence: look at a live source, for longer"
        )
    slow = [one for one in known if not is_fast_enough(one.cadence or 0.0)]
    late = [one for one in known if (one.cadence or 0.0) > _BEST_SECONDS]
    told = slow or late or known
    text = _words(told, len(known)) + (_meaning(told) if is_gpu else "")
    if not late:
        return Check(subject, Level.OK, text)
    # Slots are as wide as the GPUs' cadence; slower metrics of hosts only join some of them.
    level = Level.MISSING if slow and is_gpu else Level.WARNING
    return Check(subject, level, text, tuple(_remedies(seen, told)))


def _words(rhythms: Sequence[Rhythm], everybody: int) -> str:
    where = f"on {counted(len(rhythms), 'host')}"
    if len(rhythms) < everybody:
        where += f" of {everybody}"
    return f"a new value every {_least(rhythms)}{_usual(rhythms):g} s {where}{_repeats(rhythms)}"


def _meaning(rhythms: Sequence[Rhythm]) -> str:
    seconds = detection_seconds(_usual(rhythms))
    verdict = f": a fault could be named after {_least(rhythms) or 'about '}{seconds:.0f} s"
    if seconds > PROMISED_SECONDS:
        verdict += f", not within {PROMISED_SECONDS:.0f} s"
    return verdict


def _usual(rhythms: Sequence[Rhythm]) -> float:
    return middle([one.cadence or 0.0 for one in rhythms]) or 0.0


def _least(rhythms: Sequence[Rhythm]) -> str:
    return "at least " if any(one.is_at_least for one in rhythms) else ""


def _repeats(rhythms: Sequence[Rhythm]) -> str:
    stale = [one for one in rhythms if one.is_stale]
    if not stale:
        return ""
    share = middle([one.repeat_share for one in stale]) or 0.0
    pages = middle([one.page_interval for one in stale if one.page_interval is not None])
    asked = "" if pages is None else f", scraped every {pages:g} s"
    return f"{asked}; {share_in_words(share)} of the scrapes repeat a stale value"


def _remedies(seen: Examination, rhythms: Sequence[Rhythm]) -> Iterator[Remedy]:
    stale: set[Speaker] = set()
    rare: set[Speaker] = set()
    for one in rhythms:
        speakers = _of_interest(seen.speakers.get(one.origin, ()), one)
        if one.is_stale:
            stale.update(speakers)
        if (one.page_interval or 0.0) > _BEST_SECONDS:
            rare.update(speakers)
    if any(one.maker is Maker.DCGM for one in stale):
        yield Remedy("dcgm-exporter's arguments (or DCGM_EXPORTER_INTERVAL=1000)", ("-c 1000",))
    for job in sorted({one.scrape_job for one in rare}):
        if job:
            lines = ("scrape_interval: 1s", "scrape_timeout: 1s")
            yield Remedy(f"prometheus.yml, job_name: {job} (a ServiceMonitor: interval)", lines)
        else:
            yield Remedy("paramedic.toml", ("[collect]", "interval_seconds = 1.0"))


def _of_interest(speakers: Sequence[Speaker], rhythm: Rhythm) -> list[Speaker]:
    hosts = (Maker.NODE, Maker.NCCL)
    return [one for one in speakers if (one.maker in hosts) is not rhythm.has_gpus]
