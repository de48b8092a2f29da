"""Labels of pictures from Open Images' boxes with pandas: the same joins as `import openimages`; called by the benchmark
`openimages`. Prints the best of some times in seconds, and how many labels are true."""

import json
import sys
import time

import numpy as np
import pandas as pd

boxes, names, tree, top, times = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])


def parents_of(path):
    parents = {}

    def walk(branch):
        for below in branch.get("Subcategory", []):
            parents.setdefault(below["LabelName"], set()).add(branch["LabelName"])
            walk(below)
        for part in branch.get("Part", []):
            walk(part)

    with open(path) as file:
        walk(json.load(file))
    return parents


def labels():
    classes = pd.read_csv(names, header=None, names=["LabelName", "name"])
    parents = parents_of(tree)
    columns = ["ImageID", "LabelName", "XMin", "XMax", "YMin", "YMax"]
    table = pd.read_csv(boxes, usecols=columns)
    table = table[table.LabelName.isin(classes.LabelName)]
    inside = (table.XMin >= 0) & (table.XMin < table.XMax) & (table.XMax <= 1)
    inside &= (table.YMin >= 0) & (table.YMin < table.YMax) & (table.YMax <= 1)
    table = table[inside].drop_duplicates()
    shown = table[["ImageID", "LabelName"]].drop_duplicates()
    counts = shown.LabelName.value_counts()
    order = pd.DataFrame({"count": counts}).reset_index().sort_values(["count", "LabelName"], ascending=[False, True])
    vocabulary = list(order.LabelName[:top])

    def above(label):
        found, open_ = set(), [label]
        while open_:
            for parent in parents.get(open_.pop(), ()):
                if parent not in found:
                    found.add(parent)
                    open_.append(parent)
        return found

    ties = [(label, label) for label in vocabulary]
    ties += [(label, other) for label in classes.LabelName for other in above(label) if other in vocabulary]
    ties = pd.DataFrame(ties, columns=["LabelName", "concept"])
    raised = shown.merge(ties, on="LabelName")
    is_concept = raised.LabelName.isin(vocabulary)
    closed = raised.loc[is_concept, ["ImageID", "concept"]].drop_duplicates()
    pictures = pd.Index(table.ImageID.unique())
    matrix = np.zeros((len(pictures), len(vocabulary)), dtype=bool)
    column_of = {label: column for column, label in enumerate(vocabulary)}
    matrix[pictures.get_indexer(closed.ImageID), closed.concept.map(column_of)] = True
    others = raised.loc[~is_concept, ["ImageID", "concept"]].drop_duplicates()
    beyond = others.merge(closed, on=["ImageID", "concept"], how="left", indicator=True)
    beyond = beyond[beyond["_merge"] == "left_only"].groupby("ImageID").concept.agg(list)
    return matrix, beyond


best = float("inf")
for _ in range(times):
    start = time.perf_counter()
    matrix, beyond = labels()
    best = min(best, time.perf_counter() - start)
print(best, int(matrix.sum()), int(beyond.map(len).sum()))
