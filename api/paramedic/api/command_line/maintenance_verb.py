"""`paramedic maintenance`: says beforehand what people are about to do to machines."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError
from datetime import timedelta

from paramedic.api.command_line.errors import UsageError
from paramedic.api.command_line.flags import chosen, filled, moment, repeated, switch, valued
from paramedic.api.command_line.verbs import Call, Verb

_TEACHING = """\
add         declare maintenance of --nodes, of a whole --job, or of nodes within one job
list        what is planned and what lasts; with --all also what is over
end ID      it is over now, or does not take place

From its begin to its end, and detection.maintenance_settle_seconds beyond, no verdict speaks of
these machines, and nobody is compared with them. It is said at the API of `paramedic run`, `up` or
`remediate --serve`, which tells the jobs within seconds.

examples:
  paramedic maintenance add --nodes node-0007,node-0008 --for 2h --reason "new optics"
  paramedic maintenance add --job llama-7b --begins 2026-01-01T22:00:00Z \\
      --ends 2026-01-02T02:00:00Z --reason "storage upgrade"
  paramedic maintenance list --url http://127.0.0.1:8370
  paramedic maintenance end mnt-3b1f0a77c25de910

exit codes:
  0    done
  2    the API is not there or refuses (one line says why)
"""
_ACTIONS = ("add", "list", "end")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(\d{1,5})([smhd])")


def span(text: str) -> timedelta:
    """A length of time such as `90m` or `2h`. Raises ArgumentTypeError."""
    parts = _SPAN.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ArgumentTypeError(f"{text!r} is no length of time, such as 90m, 2h or 1d12h")
    return timedelta(seconds=sum(int(number) * _UNITS[unit] for number, unit in parts))


def _add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=_ACTIONS, help="what is to be done")
    which = "of the maintenance that is to end"
    parser.add_argument("identity", metavar="ID", nargs="?", default=None, help=which)
    repeated(parser, "--nodes", "A,B", "the machines", "nodes")
    valued(parser, "--job", "NAME", "the whole job; with --nodes: these nodes of it")
    valued(parser, "--begins", "TIME", "such as 2026-01-01T22:00:00Z (default: now)", moment)
    ends = parser.add_mutually_exclusive_group()
    valued(ends, "--ends", "TIME", "when it is over", moment)
    valued(ends, "--for", "SPAN", "how long it lasts: 90m, 2h, 1d12h", span, dest="span")
    valued(parser, "--reason", "TEXT", "what is done; people read it")
    switch(parser, "--all", "list also what is over")
    url = "where the API is (default: api.host and api.port)"
    valued(parser, "--url", "URL", url)
    form = "lines on standard error, or one JSON object on standard output (default: table)"
    chosen(parser, "--format", ("table", "json"), form)


def _execute(call: Call) -> int:
    from datetime import UTC, datetime

    flags, around = call.flags, call.surroundings
    _check(call)
    from paramedic.api.wiring.maintenance import MaintenanceCall, maintenance

    api = call.settings.api
    host = f"[{api.host}]" if ":" in api.host else api.host
    begins = flags.begins or datetime.now(UTC)
    asked = filled(
        MaintenanceCall,
        flags,
        nodes=tuple(node for listed in flags.nodes for node in listed.split(",") if node),
        begins=begins,
        ends=begins + flags.span if flags.span is not None else flags.ends,
        with_over=flags.all,
        url=flags.url or f"http://{host}:{api.port}",
        as_json=flags.format == "json",
    )
    return maintenance(asked, around.stdout, around.stderr)


def _check(call: Call) -> None:
    """Raises UsageError for what is missing or does not belong together."""
    flags = call.flags
    if (flags.action == "end") != bool(flags.identity):
        raise UsageError("maintenance end needs the ID that list shows, and nothing else takes one")
    if flags.action != "add":
        return
    if not any(flags.nodes) and not flags.job:
        raise UsageError("maintenance add needs --nodes A,B, --job NAME or both")
    if flags.span is None and flags.ends is None:
        raise UsageError("maintenance add needs an end: --for 2h or --ends TIME")
    if not flags.reason:
        raise UsageError("maintenance add needs a --reason: people read it later")


MAINTENANCE = Verb(
    name="maintenance",
    summary="declare maintenance, so that no verdict speaks of it",
    teaching=_TEACHING,
    setting_flags={"--host": "api.host", "--port": "api.port"},
    add_flags=_add_flags,
    packages=lambda _flags, _settings: (),
    execute=_execute,
)
