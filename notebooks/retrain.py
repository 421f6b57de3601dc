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
# # Retrain on your own telemetry
#
# The model that ships has learnt from synthetic clusters. Yours has habits of its own: how much its
# machines differ, how its jobs pause, what its sensors do. This notebook learns them from
# recordings and keeps the result as a candidate. Nothing changes in production before the candidate
# is promoted.
#
# Nobody has to label anything: most machines are well most of the time. What is known to have been
# broken, from label files or from feedback on verdicts, is left out.

# %%
import os
import warnings
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pandas as pd
from pytorch_lightning.loggers import CSVLogger

from paramedic.ingest.contract import format_time
from paramedic.models.histories.labelled import healthy_parts
from paramedic.models.histories.workbench import Workbench
from paramedic.models.registry.provenance import manifest_of_training
from paramedic.models.training.fitting import fit

warnings.filterwarnings("ignore", module="pytorch_lightning")

scratch = TemporaryDirectory(prefix="paramedic-")
bench = Workbench.of(os.environ, Path(scratch.name), Path.cwd())
labelled = bench.labelled()

# %% [markdown]
# ## What there is to learn from

# %%
seen = [(one.name, part) for one in labelled for part in healthy_parts(one)]
learnt = pd.Series([name for name, _ in seen]).value_counts()
pd.DataFrame(
    [
        {
            "recording": one.name,
            "nodes": len(one.history.nodes),
            "seconds": len(one.history.seconds) * one.history.seconds.step,
            "known faults": ", ".join(fault.kind for fault in one.faults) or "-",
            "verdicts that were none": len(one.labels.no_faults),
            "healthy parts": int(learnt.get(one.name, 0)),
        }
        for one in labelled
    ]
)

# %% [markdown]
# ## Learn
#
# One seed gives one model, to the last bit. Training stops when held-out jobs no longer gain.

# %%
logger = CSVLogger(str(bench.folder), name="training")
histories = [part for _, part in seen]
model = fit(histories, bench.fit_settings, loggers=[logger])
print(f"{len(model.metrics)} metrics, SHA-256 {model.digest()[:16]}…")

# %%
pd.Series(model.scores, name="score", dtype=object)

# %%
losses = pd.read_csv(Path(logger.log_dir) / "metrics.csv").dropna(subset="held_out_loss")
figure, place = plt.subplots(figsize=(8, 3))
place.plot(losses["epoch"] + 1, losses["held_out_loss"], marker="o")
place.set_xlabel("epoch")
place.set_ylabel("held-out loss")
plt.show()

# %% [markdown]
# ## What it takes for usual
#
# For each metric, how odd the oddest 1 % of healthy rows look. Metrics far to the right are noisy
# here; they need more to speak against a machine.

# %%
usual = pd.DataFrame(model.fingerprint).T
noisiest = usual["input_q99"].dropna().sort_values().tail(15)
figure, place = plt.subplots(figsize=(8, 5))
place.barh(noisiest.index, noisiest.to_numpy())
place.set_xlabel("departure from the peers, 99 % quantile")
figure.tight_layout()
plt.show()

# %% [markdown]
# ## Keep it as a candidate

# %%
now = format_time(datetime.now(UTC).replace(microsecond=0))
version = bench.registry.add(model, manifest_of_training("retrained", now, seen), now)
print(f"version {version} is a candidate in {bench.registry_folder}")
