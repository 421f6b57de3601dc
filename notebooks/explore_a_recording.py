# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Explore a recording and a verdict
#
# A recording is what `paramedic capture` writes. This notebook looks at what is in one, at the
# verdicts that a live run would have given, and at why.
#
# Name your own recordings in `PARAMEDIC_RECORDINGS`; without any, small ones are made up.

# %%
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import display

from paramedic.ingest.contract import Entity, EntityKey
from paramedic.models.histories.labelled import read_labelled
from paramedic.models.histories.plots import draw_against_peers, draw_evidence, mark_faults
from paramedic.models.histories.workbench import Workbench
from paramedic.models.pattern.detector import PatternDetector
from paramedic.models.training.fitting import fit

warnings.filterwarnings("ignore", module="pytorch_lightning")

scratch = TemporaryDirectory(prefix="paramedic-")
bench = Workbench.of(os.environ, Path(scratch.name), Path.cwd())
recording = bench.recordings()[-1]
recording

# %% [markdown]
# ## What was observed
#
# The history holds one row for each node, GPU and rank, with holes where nothing was observed. It
# comes out of the same windows as in a live run: what was late then is not used now.

# %%
stretch = max(read_labelled(recording), key=lambda one: len(one.history.seconds))
history = stretch.history
print(f"{history.job}: {len(history.nodes)} nodes, {len(history.seconds)} slots")
pd.DataFrame(
    {
        "rows": {entity: len(window.rows) for entity, window in history.windows.items()},
        "metrics": {entity: len(window.metrics) for entity, window in history.windows.items()},
        "observed": {
            entity: f"{window.observed.mean():.1%}" for entity, window in history.windows.items()
        },
    }
)

# %% [markdown]
# ## What Paramedic said
#
# `paramedic replay` gives the verdicts of the live run, one JSON object a line.

# %%
command = [sys.executable, "-m", "paramedic.api.command_line", "replay", str(recording)]
replayed = subprocess.run(command, capture_output=True, text=True, check=True)
verdicts = [json.loads(line) for line in replayed.stdout.splitlines()]
shown = ["detected_at", "status", "severity", "fault", "node", "gpu", "confidence", "summary"]
display(pd.DataFrame(verdicts, columns=shown))

# %% [markdown]
# ## Why
#
# Each verdict carries its evidence: the metrics in which the machine left its peers. The peers are
# the machines with the same role.

# %%
verdict = next((one for one in verdicts if one["node"] and one["evidence"]), None)
if verdict is None:
    print("No verdict names a machine: there is nothing to explain.")
else:
    display(pd.DataFrame(verdict["evidence"]))

# %%
if verdict is not None:
    metrics = list(dict.fromkeys(one["metric"] for one in verdict["evidence"]))[:3]
    kinds = {m: kind for kind, window in history.windows.items() for m in window.metrics}
    figure, axes = plt.subplots(len(metrics), 1, figsize=(11, 3 * len(metrics)), squeeze=False)
    for place, metric in zip(axes[:, 0], metrics, strict=True):
        kind = kinds[metric]
        index = verdict["gpu"] if kind is Entity.GPU else None
        rows = [row for row in history.windows[kind].rows if row.node == verdict["node"]]
        accused = next((row for row in rows if row == EntityKey(kind, row.node, index)), rows[0])
        draw_against_peers(place, history, kind, metric, accused)
        mark_faults(place, history, stretch.faults)
    figure.tight_layout()
    plt.show()

# %% [markdown]
# ## What the pattern model adds up
#
# Every slot in which a machine is odder than its peers adds to the evidence against it; slots in
# which it is not take evidence away. An alarm is raised where enough has added up.

# %%
model = bench.model_in_use(lambda parts: fit(parts, bench.fit_settings))
examination = PatternDetector(model).examine(history)
figure, place = plt.subplots(figsize=(11, 4))
draw_evidence(place, examination.nodes, examination.seconds, examination.evidence.nats)
place.set_title("Evidence against each machine")
plt.show()

# %%
threshold = 200.0
pd.DataFrame(
    [
        {"second": one.second - history.seconds[0], "nodes": ", ".join(one.nodes), "gpu": one.gpu}
        for one in examination.alarms(threshold)
    ]
)

# %% [markdown]
# ## What is known of it
#
# Labels and feedback lie beside a recording (`NAME.labels.json`, `NAME.feedback.jsonl`).

# %%
pd.DataFrame(stretch.faults)
