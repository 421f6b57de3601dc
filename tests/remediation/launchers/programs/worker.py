"""A worker that speaks the trainer's side of the control protocol and trains nothing.

`WORKER_FINISHES_IN` is the generation in which it says `finished` after its first step, and exits.
`WORKER_EXITS_WITH` is the code of a worker that ends before it says hello.
`WORKER_IS_DEAF` lets it ignore `stop` and SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from typing import Any

NODE = os.environ["PARAMEDIC_NODE"]
FINISHES_IN = int(os.environ.get("WORKER_FINISHES_IN", "-1"))
IS_DEAF = "WORKER_IS_DEAF" in os.environ


def send(control: socket.socket, **message: Any) -> None:
    control.sendall(json.dumps(message).encode() + b"\n")


def main() -> int:
    sys.stderr.write(f"{NODE} starts\n")
    if "WORKER_EXITS_WITH" in os.environ:
        sys.stderr.write("this worker is broken\n")
        return int(os.environ["WORKER_EXITS_WITH"])
    if IS_DEAF:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as control:
        control.connect(os.environ["PARAMEDIC_CONTROL_SOCKET"])
        send(control, type="hello", node=NODE, process_id=os.getpid())
        send(control, type="ready", node=NODE)
        return serve(control)


def serve(control: socket.socket) -> int:
    for line in control.makefile("rb"):
        message = json.loads(line)
        if message["type"] == "stop" and not IS_DEAF:
            return 0
        if message["type"] == "ping":
            send(control, type="pong")
        if message["type"] == "abort":
            step = message["generation"] + 10
            send(control, type="failed", generation=step - 10, reason="aborted", step=step)
        if message["type"] == "assign" and train(control, message):
            return 0
    return 3


def train(control: socket.socket, assign: dict[str, Any]) -> bool:
    generation = assign["generation"]
    if assign["store_port"] is None:
        send(control, type="store", generation=generation, port=4000 + generation)
    send(control, type="committed", generation=generation, step=generation + 10)
    if generation != FINISHES_IN:
        return False
    send(control, type="finished", step=generation + 10)
    return True


if __name__ == "__main__":
    sys.exit(main())
