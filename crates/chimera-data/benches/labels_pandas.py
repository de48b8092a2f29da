"""Writes a table of labels as Parquet, or reads it with pandas to booleans; called by the benchmark `labels`."""

import sys
import time

import numpy as np
import pandas as pd

task, path = sys.argv[1], sys.argv[2]
if task == "write":
    rows, concepts = int(sys.argv[3]), int(sys.argv[4])
    rng = np.random.default_rng(123)
    columns = {"id": [f"sample-{row:08}" for row in range(rows)]}
    for concept in range(concepts):
        columns[f"concept_{concept}"] = rng.random(rows) < 0.02 + 0.5 * concept / concepts
    pd.DataFrame(columns).to_parquet(path, index=False)
else:
    best, ones = float("inf"), 0
    for _ in range(int(sys.argv[3])):
        start = time.perf_counter()
        table = pd.read_parquet(path)
        labels = table.drop(columns="id").to_numpy(dtype=bool)
        best = min(best, time.perf_counter() - start)
        ones = int(labels.sum())
        del table, labels
    print(best, ones)
