"""Runs one local job from a JSON description; events and the result go to files in its folder."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

from paramedic.ingest.contract import Event, JobName
from paramedic.remediation.launchers.local.commands import MembershipRules
from paramedic.remediation.launchers.local.job_config import LocalJobConfig
from paramedic.remediation.launchers.local.local_job import LocalJob
from paramedic.remediation.launchers.local.service_keeper import ServiceSpec
from paramedic.remediation.launchers.port import LauncherSetupError


def main(description: str) -> int:
    asked = json.loads(description)
    folder = Path(asked["folder"])
    config = LocalJobConfig(
        job=JobName("demo"),
        command=tuple(asked["command"]),
        rules=MembershipRules(**asked["rules"]),
        run_folder=folder,
        control_socket=folder / "control.sock",
        base_environment=dict(os.environ),
        service_drain_seconds=0.2,
    )
    services = [
        ServiceSpec(
            name=name,
            command=tuple(command),
            environment=dict(os.environ),
            log_path=folder / f"{name}.log",
        )
        for name, command in asked["services"].items()
    ]
    with (folder / "events.jsonl").open("ab", buffering=0) as events:

        def publish(event: Event) -> None:
            events.write(event.to_json() + b"\n")

        try:
            result = LocalJob(config, publish, services=services).run()
        except LauncherSetupError as error:
            sys.stderr.write(f"{error}\n")
            return 2
    summary = {
        "end": result.end,
        "reason": result.reason,
        "node": result.node,
        "log_path": str(result.log_path),
        "last_line": result.last_line,
    }
    (folder / "result.json").write_text(json.dumps(summary))
    return result.exit_code


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)d %(message)s")
    sys.exit(main(sys.argv[1]))
