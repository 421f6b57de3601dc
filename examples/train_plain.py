"""A small causal transformer learns the prose of Python's own manual. Plain PyTorch DDP over gloo.

Run it on two processes with `torchrun --nproc-per-node 2 examples/train_plain.py --steps 100`.
It is deterministic: the batch of a step depends on the seed and the step, and on nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from pydoc_data.topics import topics

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

SEED = 20260101
CONTEXT = 64
GLOBAL_BATCH = 32
WIDTH, HEADS, LAYERS = 192, 6, 4
VOCABULARY = 256


class Block(nn.Module):
    """Attention and a feed-forward net, each with a residual connection."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, dropout=0.1, batch_first=True)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(WIDTH),
            nn.Linear(WIDTH, 4 * WIDTH),
            nn.GELU(),
            nn.Linear(4 * WIDTH, WIDTH),
            nn.Dropout(0.1),
        )

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """One layer; `mask` hides the future."""
        normed = self.before_attention(hidden)
        attended, _ = self.attention(normed, normed, normed, attn_mask=mask, need_weights=False)
        hidden = hidden + attended
        return hidden + torch.as_tensor(self.feed_forward(hidden))


class Transformer(nn.Module):
    """Predicts each next byte."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Parameter(0.02 * torch.randn(CONTEXT, WIDTH))
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.head = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY))
        mask = torch.full((CONTEXT, CONTEXT), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits for the byte after each of the tokens."""
        hidden = self.token(tokens) + self.position
        for block in self.blocks:
            hidden = block(hidden, self.mask)
        return torch.as_tensor(self.head(hidden))


def corpus() -> torch.Tensor:
    """Some 700 kB of English, shipped with every Python."""
    text = "\n\n".join(topics[name] for name in sorted(topics))
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8).long()


def batch(text: torch.Tensor, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """This rank's share of the step's batch: tokens, and the bytes that follow them."""
    order = torch.Generator().manual_seed(SEED * 1_000_003 + step)
    starts = torch.randint(len(text) - CONTEXT, (GLOBAL_BATCH,), generator=order)
    mine = starts[dist.get_rank() :: dist.get_world_size()]
    windows = text[mine[:, None] + torch.arange(CONTEXT + 1)]
    return windows[:, :-1], windows[:, 1:]


def record_loss(folder: Path | None, step: int, loss: torch.Tensor) -> None:
    """Append the loss, exactly, for comparing runs; a rehearsal is none."""
    if folder is None or "PARAMEDIC_REHEARSING" in os.environ:
        return
    rank = dist.get_rank()
    line = {"step": step, "rank": rank, "loss": float(loss.item()).hex()}
    folder.mkdir(parents=True, exist_ok=True)
    name = os.environ.get("PARAMEDIC_NODE", str(rank))
    with (folder / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def read_arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--losses", type=Path, help="folder for exact losses, one file a process")
    return parser.parse_args()


def main() -> None:
    """Train."""
    arguments = read_arguments()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    dist.init_process_group("gloo")
    text = corpus()
    model = DistributedDataParallel(Transformer())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=arguments.steps)

    def train_step(step: int) -> float:
        tokens, following = batch(text, step)
        optimizer.zero_grad()
        logits = model(tokens)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten())
        record_loss(arguments.losses, step, loss)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if dist.get_rank() == 0 and step % 20 == 0:
            print(f"step {step}: loss {loss.item():.4f}", flush=True)
        return loss.item()

    for step in range(arguments.steps):
        train_step(step)

    dist.destroy_process_group()


if __name__ == "__main__":
    main()
