"""Headers that were read before: a sender's header changes in its second and in little else.

What follows the second (shard and tables) is looked up by its bytes, so that thousands of names are
parsed once and not every second, and so that the tuples of names stay the same objects, by which
later parts know what they have seen before.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict

from paramedic.ingest.batch.header import Header, read_header, restated

LIMIT_BYTES = 16 * 1024 * 1024
"""Bytes of JSON that are kept; what is parsed from them takes a few times as much."""
_SHARE_OF_ONE = 4
"""A header larger than this share of the limit is not kept."""
_SAMPLES = 256
"""Bytes by which a header is looked up before it is compared whole: hashing all of it takes
longer than all the rest."""

# The form that writers of the layout produce; any other is read in full. The digits and the name
# are such that JSON reads them the same way.
_BEGINNING = re.compile(
    rb'\{"generation":(0|[1-9][0-9]{0,9}),"job":"([^"\\\x00-\x1f]{1,1020})"'
    rb',"second":(0|[1-9][0-9]{0,11}),(?=")'
)
_Sample = tuple[int, bytes, bytes]
_BEGINS_WITH = {"generation", "job", "second"}


class HeaderCache:
    """Reads headers and remembers the newest senders'. Safe for several threads."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._headers: OrderedDict[_Sample, tuple[bytes, Header]] = OrderedDict()
        self._held_bytes = 0
        self._lock = threading.Lock()

    @property
    def held_bytes(self) -> int:
        """Bytes of JSON that are kept now."""
        return self._held_bytes

    def read(self, data: bytes) -> Header:
        """The header in its UTF-8 JSON; tables that were read before are the same objects.

        Raises ContractError with the field and its value.
        """
        beginning = _BEGINNING.match(data)
        if beginning is None:
            return read_header(data)
        tail = data[beginning.end() :]
        sample = _sample(tail)
        with self._lock:
            kept = self._headers.get(sample)
            if kept is not None:
                self._headers.move_to_end(sample)
        if kept is None or kept[0] != tail:
            header = read_header(data)
            self._keep(sample, tail, header)
            return header
        generation, job, second = beginning.groups()
        return restated(kept[1], int(generation), job, int(second))

    def _keep(self, sample: _Sample, tail: bytes, header: Header) -> None:
        # Of a field that JSON names twice the last one counts, so nothing may follow twice.
        if len(tail) * _SHARE_OF_ONE > self._limit_bytes:
            return
        if not _BEGINS_WITH.isdisjoint(json.loads(b"{" + tail)):
            return
        with self._lock:
            before, _ = self._headers.pop(sample, (b"", header))
            self._held_bytes += len(tail) - len(before)
            self._headers[sample] = tail, header
            while self._held_bytes > self._limit_bytes:
                _, (oldest, _) = self._headers.popitem(last=False)
                self._held_bytes -= len(oldest)


def _sample(tail: bytes) -> _Sample:
    """Bytes from all over it, and its length."""
    return len(tail), tail[-_SAMPLES:], tail[:: len(tail) // _SAMPLES + 1]
