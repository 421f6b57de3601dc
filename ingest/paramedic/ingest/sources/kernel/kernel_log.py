"""Facts of log lines, whatever tool wrote the lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

from paramedic.ingest.contract import NodeName
from paramedic.ingest.exposition.moments import is_moment
from paramedic.ingest.sources.kernel.messages import finding_of_line, gpu_of_line
from paramedic.ingest.sources.kernel.stamps import Era, written_at
from paramedic.ingest.sources.port import NodeFact

_MICROSECONDS = 1_000_000
_NO_ENTRY = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)


def facts_of_lines(lines: Iterable[str], node: NodeName, era: Era) -> list[NodeFact]:
    """The errors that lines of a log tell of, in their order.

    Read are dmesg (plain, -T, --time-format iso, -x), records of /dev/kmsg, journalctl (short and
    its relatives, json), syslog files, and the fabric manager's log. A line that is none of these
    costs nothing. Times without a zone are taken in the era's zone.
    """
    log = KernelLog(node)
    return [fact for line in lines for fact in log.facts(line, era)]


class KernelLog:
    """Reads one node's log line by line; remembers which GPU sits where."""

    def __init__(self, node: NodeName) -> None:
        self._node = node
        self._uuids: dict[str, str] = {}

    def facts(self, line: str, era: Era) -> tuple[NodeFact, ...]:
        """What one line tells; mostly nothing."""
        if line.startswith("{"):
            return self._of_journal(line, era)
        text = line.rstrip("\r\n")
        return self._of_message(text, text, era)

    def _of_journal(self, line: str, era: Era) -> tuple[NodeFact, ...]:
        """One entry of `journalctl -o json`; a message with odd bytes comes as their numbers."""
        try:
            entry = json.loads(line)
            message = entry["MESSAGE"]
            text = (
                message if isinstance(message, str) else bytes(message).decode("utf-8", "replace")
            )
            written = int(entry.get("__REALTIME_TIMESTAMP", 0)) / _MICROSECONDS
        except _NO_ENTRY:
            return ()
        found = self._of_message(text, "", era)
        return (
            tuple(replace(fact, timestamp_seconds=written) for fact in found)
            if written and is_moment(written)
            else found
        )

    def _of_message(self, text: str, stamped: str, era: Era) -> tuple[NodeFact, ...]:
        bound = gpu_of_line(text)
        if bound is not None:
            self._uuids[bound[0]] = bound[1]
        finding = finding_of_line(text)
        if finding is None:
            return ()
        uuid = self._uuids.get(str(finding.details.get("pci_bus_id")))
        details = finding.details if uuid is None else {**finding.details, "uuid": uuid}
        written = written_at(stamped, era)
        return (NodeFact(written, finding.kind, self._node, details=details),)
