"""Turns labels over and measures how an audit finds them: docs/review.md has the commands.

    python label_errors.py plant clean/samples.parquet noisy.csv wrong.csv
    python label_errors.py measure audit/audit.csv wrong.csv truth.csv
"""

import sys

import numpy as np
import pandas as pd

SHARE, SEED = 0.02, 7
NO_CONCEPTS = {"id", "media", "split", "group", "oov_ancestors"}


def plant(clean, noisy, wrong):
    """2 % of the labels to learn from are turned over. The oracle's rows, of which some really break a rule, join train."""
    table = pd.read_parquet(clean)
    random = np.random.default_rng(SEED)
    table["split"] = table["split"].astype(str).replace("oracle", "train")
    to_learn = (table["split"] != "test").to_numpy()
    turned = []
    for concept in [name for name in table.columns if name not in NO_CONCEPTS]:
        flips = to_learn & (random.random(len(table)) < SHARE)
        table[concept] = (table[concept].astype(int) ^ flips).astype(int)
        turned += [(id, concept) for id in table["id"][flips]]
    table.to_csv(noisy, index=False)
    pd.DataFrame(turned, columns=["id", "concept"]).to_csv(wrong, index=False)
    print(f"{len(turned)} of {int(to_learn.sum()) * (len(table.columns) - 3)} labels turned over")


def measure(audit, wrong, truth):
    """A label error is right where each label of its repair was turned over; a violation where the true labels break the rule."""
    turned = set(pd.read_csv(wrong, dtype=str).itertuples(index=False, name=None))
    holds = pd.read_csv(truth, dtype={"id": str}).set_index("id")
    found = []
    for (id, rule), lines in pd.read_csv(audit, dtype={"id": str}).groupby(["id", "rule"]):
        flips = lines["concept"][lines["repair"].notna()]
        found.append((lines["verdict"].iloc[0], holds.at[id, rule] == 0, all((id, name) in turned for name in flips)))
    for name, is_right, is_wanted in [
        ("label error", lambda real, flips: flips, lambda real: not real),
        ("real violation", lambda real, flips: real, lambda real: real),
    ]:
        named = [(real, flips) for verdict, real, flips in found if verdict == name]
        right = sum(is_right(real, flips) for real, flips in named)
        hits = sum(is_right(real, flips) and is_wanted(real) for real, flips in named)
        wanted = sum(is_wanted(real) for _, real, _ in found)
        print(f"{name}: {len(named)} named, precision {right / max(len(named), 1):.3f}; recall {hits / max(wanted, 1):.3f} of {wanted}")
    taken = sum(verdict == "label error" for verdict, real, _ in found if real)
    print(f"real violations that are called label errors: {taken} of {sum(real for _, real, _ in found)}")


if __name__ == "__main__":
    {"plant": plant, "measure": measure}[sys.argv[1]](*sys.argv[2:])
