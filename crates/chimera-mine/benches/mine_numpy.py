"""The Python side of the benchmark `mine`: co-occurrence by numpy, rules by mlxtend."""

import json
import sys
import time

import numpy as np


def best(times, work):
    seconds, result = float("inf"), None
    for _ in range(times):
        started = time.perf_counter()
        result = work()
        seconds = min(seconds, time.perf_counter() - started)
    return seconds, result


def pairs(file, out, rows, concepts, times):
    rows, concepts = int(rows), int(concepts)
    packed = np.fromfile(file, dtype=np.uint8).reshape(concepts, -1)
    labels = np.empty((rows, concepts), dtype=np.float32)
    for concept in range(concepts):
        labels[:, concept] = np.unpackbits(packed[concept], bitorder="little")[:rows]
    seconds, counts = best(int(times), lambda: labels.T @ labels)
    counts.astype("<u4").tofile(out)
    print(seconds)


def compounds(file, support, confidence, times):
    import pandas
    from mlxtend.frequent_patterns import apriori, association_rules, fpgrowth

    table = pandas.read_csv(file)
    table = table[table["split"] == "train"].drop(columns=["id", "split"]).astype(bool)
    support, confidence = float(support), float(confidence)
    answer = {}
    # Support is that of the antecedent; an itemset has at least the confidence's share of it.
    for name, itemsets in [("apriori", apriori), ("fpgrowth", fpgrowth)]:

        def work():
            found = itemsets(table, min_support=support * confidence, use_colnames=True, max_len=3)
            return association_rules(found, metric="confidence", min_threshold=confidence)

        answer[name], rules = best(int(times), work)
    rules = rules.rename(columns={"antecedent support": "antecedent_support"})
    listed = []
    for rule in rules.itertuples():
        if len(rule.antecedents) == 2 and len(rule.consequents) == 1:
            numbers = sorted(int(item[1:]) for item in rule.antecedents)
            (demand,) = rule.consequents
            rows = len(table)
            counts = [round(rule.antecedent_support * rows), round(rule.support * rows)]
            listed.append(numbers + [int(demand[1:])] + counts)
    answer["rules"] = listed
    print(json.dumps(answer))


if __name__ == "__main__":
    {"pairs": pairs, "compounds": compounds}[sys.argv[1]](*sys.argv[2:])
