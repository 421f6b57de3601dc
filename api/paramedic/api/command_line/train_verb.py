"""`paramedic train`: a pattern model from recordings."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from paramedic.api.command_line import extras
from paramedic.api.command_line.flags import chosen, path, seed, switch, valued, whole
from paramedic.api.command_line.verbs import Call, Verb
from paramedic.api.settings.schema import Settings

_TEACHING = """\
Learns from recordings how healthy machines look beside their peers. Nobody has to label anything:
most machines are well most of the time, and the oddest windows teach nothing. The same recordings
and the same seed give the same model. What is done is told on standard error; at the end one JSON
object says where the model lies.

A training that was stopped leaves MODEL.training; --resume goes on with it.

examples:
  paramedic train recordings/a recordings/b --out models/ours
  paramedic train recordings/a --out models/ours --resume
  paramedic models promote models/ours

exit codes:
  0    the model is written
  2    the recordings cannot be used, or teach nothing (one line says what)
  130  Ctrl-C; --resume goes on
"""


def _epochs(text: str) -> int:
    return whole(text, 1)


def _add_flags(parser: ArgumentParser) -> None:
    words = "folders, as capture and simulate --record write them"
    parser.add_argument("recordings", metavar="RECORDING", nargs="+", type=path, help=words)
    valued(parser, "--out", "MODEL", "the folder that receives the model", path, required=True)
    valued(parser, "--name", "NAME", "of the model (default: the name of its folder)")
    valued(parser, "--seed", "N", "decides every draw (default: 0)", seed, 0)
    valued(parser, "--epochs", "N", "at most; it stops early when nothing gets better", _epochs)
    switch(parser, "--resume", "go on with a training that was stopped, if there is one")
    chosen(parser, "--accelerator", ("cpu", "gpu", "auto"), "what computes (default: cpu)")
    valued(parser, "--logs", "FOLDER", "losses by epoch as CSV files go there", path)


def _packages(_flags: Namespace, _settings: Settings) -> Sequence[str]:
    return extras.TRAIN


def _execute(call: Call) -> int:
    from datetime import UTC, datetime
    from time import monotonic

    from paramedic.api.wiring.train import TrainRequest, train

    flags, around = call.flags, call.surroundings
    out = around.folder / flags.out
    request = TrainRequest(
        recordings=tuple(flags.recordings),
        folder=around.folder,
        out=out,
        name=flags.name or out.name,
        seed=flags.seed,
        epochs=flags.epochs,
        resume=flags.resume,
        accelerator=flags.accelerator,
        logs=None if flags.logs is None else around.folder / flags.logs,
        now=datetime.now(UTC),
        clock=monotonic,
    )
    return train(request, around.stdout, around.stderr)


TRAIN = Verb(
    name="train",
    summary="learn from recordings how healthy machines look",
    teaching=_TEACHING,
    add_flags=_add_flags,
    packages=_packages,
    execute=_execute,
    extra="ingest",
)
