"""Metrics of ranks the way scikit-learn computes them, one argsort a column; called by the benchmark `metrics`."""

import sys
import time
from pathlib import Path

import numpy as np


def metrics(scores, labels):
    order = np.argsort(scores, kind="mergesort")[::-1]
    scores, labels = scores[order], labels[order]
    ends = np.r_[np.nonzero(np.diff(scores))[0], labels.size - 1]
    hits = np.cumsum(labels, dtype=np.float64)[ends]
    misses = 1 + ends - hits
    recall, fall_out = np.r_[0, hits / hits[-1]], np.r_[0, misses / misses[-1]]
    auroc = np.trapezoid(recall, fall_out)
    precision = np.sum(np.diff(recall) * hits / (hits + misses))
    fpr = fall_out[np.argmax(recall >= 0.95)]
    return auroc, precision, fpr, np.mean((scores >= 1) == labels)


folder, rows, columns, times = Path(sys.argv[1]), *map(int, sys.argv[2:])
scores = np.fromfile(folder / "scores", dtype=np.float32).reshape(rows, columns)
labels = np.fromfile(folder / "labels", dtype=bool).reshape(rows, columns)
best = float("inf")
for _ in range(times):
    start = time.perf_counter()
    for column in range(columns):
        metrics(scores[:, column], labels[:, column])
    best = min(best, time.perf_counter() - start)
print(best)
