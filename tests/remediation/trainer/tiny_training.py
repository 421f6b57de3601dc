"""A script for the recovery tests: a small net with dropout, DDP, AdamW and a scheduler."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from paramedic.remediation.trainer import session


def digest_of(*states: object) -> str:
    """SHA-256 over every tensor of the states."""
    digest = hashlib.sha256()

    def feed(value: object) -> None:
        if isinstance(value, torch.Tensor):
            digest.update(value.detach().numpy().tobytes())
        elif isinstance(value, dict):
            for item in value.values():
                feed(item)
        else:
            digest.update(repr(value).encode())

    for state in states:
        feed(state)
    return digest.hexdigest()


def build(width: int) -> DistributedDataParallel:
    layers: list[nn.Module] = []
    for _ in range(4):
        layers += [nn.Linear(width, width), nn.LayerNorm(width), nn.GELU(), nn.Dropout(0.1)]
    return DistributedDataParallel(nn.Sequential(*layers, nn.Linear(width, 10)))


def split_the_commit() -> None:
    """Rank 1 dies, rank 2 waits for it, and the others commit the step."""
    if dist.get_rank() == 1:
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGKILL)
    if dist.get_rank() == 2:
        dist.recv(torch.zeros(1), 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--fail-at", type=int, default=-1)
    parser.add_argument("--split-at", type=int, default=-1)
    parser.add_argument("--break-at", type=int, default=-1)
    parser.add_argument("--break-rank", type=int, help="the only rank that breaks; all by default")
    parser.add_argument("--fail-after", type=int, default=-1, help="in the loop, not in the step")
    parser.add_argument("--pause-seconds", type=float, default=0.0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(7)
    job = session.join("gloo")
    model = build(arguments.width)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=10_000)
    job.protect(model=model, optimizer=optimizer, scheduler=scheduler)

    @job.attempt
    def train_step(step: int) -> float:
        if step == arguments.fail_at and not job.rehearsing:
            raise RuntimeError("the user's own mistake")
        data = torch.Generator().manual_seed(step * 1000 + dist.get_rank())
        inputs = torch.randn(16, arguments.width, generator=data)
        target = torch.randint(0, 10, (16,), generator=data)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), target)
        loss.backward()
        if step == arguments.split_at and not job.rehearsing:
            split_the_commit()
        optimizer.step()
        scheduler.step()
        time.sleep(arguments.pause_seconds)
        return loss.item()

    for step in job.steps(arguments.steps):
        train_step(step)
        if step == arguments.fail_after:
            raise RuntimeError("a mistake beside the step")
        if step == arguments.break_at and arguments.break_rank in (None, dist.get_rank()):
            break
    outcome = {
        "rank": dist.get_rank(),
        "digest": digest_of(model.state_dict(), optimizer.state_dict(), scheduler.state_dict()),
    }
    (arguments.out / f"{os.environ['PARAMEDIC_NODE']}.json").write_text(json.dumps(outcome))


if __name__ == "__main__":
    main()
