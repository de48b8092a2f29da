"""The AUROC of one long column by scikit-learn; called by the benchmark `metrics`. Prints seconds and the AUROC."""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

folder, times = Path(sys.argv[1]), int(sys.argv[2])
scores = np.fromfile(folder / "scores", dtype=np.float32)
labels = np.fromfile(folder / "labels", dtype=bool)
best = float("inf")
for _ in range(times):
    start = time.perf_counter()
    auroc = roc_auc_score(labels, scores)
    best = min(best, time.perf_counter() - start)
print(best, auroc)
