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
# # Evaluate against production, and promote
#
# The newest candidate and the model in use judge the same recordings. What is known to have been
# broken comes from label files and from people's feedback on verdicts. Thresholds are chosen on one
# half of the jobs and compared on the other.
#
# The candidate is promoted when it is better and `PARAMEDIC_PROMOTE=1`; everything can be undone
# with `paramedic models rollback`.

# %%
import os
import warnings
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pandas as pd

from paramedic.diagnosis.benchmark.real_sets.own_recordings import compare
from paramedic.ingest.contract import format_time
from paramedic.models.histories.labelled import healthy_parts
from paramedic.models.histories.plots import draw_f1
from paramedic.models.histories.workbench import Workbench, split
from paramedic.models.pattern.detector import PatternDetector
from paramedic.models.registry.fit import fit_of
from paramedic.models.registry.provenance import manifest_of_training
from paramedic.models.registry.stages import Stage
from paramedic.models.training.fitting import fit

warnings.filterwarnings("ignore", module="pytorch_lightning")

scratch = TemporaryDirectory(prefix="paramedic-")
bench = Workbench.of(os.environ, Path(scratch.name), Path.cwd())
registry, labelled = bench.registry, bench.labelled()
validation, test = split(labelled)

# %% [markdown]
# ## The candidate
#
# The newest one in the registry. While there is none, one is trained on the jobs that only choose
# thresholds, so that the comparison stays fair.

# %%
now = format_time(datetime.now(UTC).replace(microsecond=0))
if not any(one.stage is Stage.CANDIDATE for one in registry.versions()):
    seen = [(one.name, part) for one in validation for part in healthy_parts(one)]
    trained = fit([part for _, part in seen], bench.fit_settings)
    registry.add(trained, manifest_of_training("retrained", now, seen), now)
version = max(one.number for one in registry.versions() if one.stage is Stage.CANDIDATE)
candidate, manifest = registry.load(version)
print(f"version {version}, trained on {len(manifest.trained_on)} stretches")

# %% [markdown]
# Do its metrics arrive here?

# %%
arriving = {m for one in labelled for w in one.history.windows.values() for m in w.metrics}
print("\n".join(fit_of(candidate, arriving).remarks) or "Every metric that it knows arrives.")

# %% [markdown]
# ## Side by side

# %%
production = bench.model_in_use(lambda parts: fit(parts, bench.fit_settings))
rows = compare(
    [PatternDetector(production, name="production"), PatternDetector(candidate, name="candidate")],
    validation,
    test,
)
shown = ["precision", "recall", "f1", "delay_p50_seconds", "false_alarms_per_job_day"]
pd.DataFrame([row.to_json() for row in rows]).set_index("detector")[shown].round(3)

# %%
figure, place = plt.subplots(figsize=(8, 2))
draw_f1(place, {row.detector: (row.f1, row.f1_low, row.f1_high) for row in rows})
figure.tight_layout()
plt.show()

# %% [markdown]
# ## What people said of verdicts

# %%
no_faults = [said for one in labelled for said in one.labels.no_faults]
print(f"{len(no_faults)} verdicts were no fault; {sum(len(one.faults) for one in labelled)} known.")

# %% [markdown]
# ## Promote

# %%
before, after = rows
is_better = after.f1 >= before.f1 and after.false_alarms <= before.false_alarms
if not is_better:
    print(f"The candidate is not better (F1 {after.f1:.2f}, {before.f1:.2f} in use): it stays one.")
elif os.environ.get("PARAMEDIC_PROMOTE") == "1":
    registry.promote(version, now, f"F1 {after.f1:.2f}, {before.f1:.2f} before")
    print(f"version {version} is in production")
else:
    print(f"The candidate is as good or better. To promote: paramedic models promote {version}")
