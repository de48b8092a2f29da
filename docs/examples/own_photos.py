"""Turns a simulated world into what a reader of docs/tutorial.md brings: photos, a table, and new photos without labels.

chimera world openimages --rules docs/examples/street_world.rules --train 5000 --test 1000 --oracle 0 --size 128x96 --seed 5 --out w/
chimera import openimages w/ --top 66 --rules w/rules.rules --out wds/
python docs/examples/own_photos.py w/ wds/samples.parquet my/

Needs pyarrow. `my/all.csv` has all 6,000 pictures (`--media-root w/`), for the table of how many one needs.
"""
import csv
import os
import shutil
import sys

import pyarrow.parquet as parquet

CONCEPTS = ["Bicycle", "Helmet", "Car", "Wheel", "Man", "Woman", "Boy", "Girl", "Cat", "Dog", "Bird", "House", "Door", "Window", "Tree", "Traffic sign"]


def main(world, table, out):
    columns = parquet.read_table(table).to_pydict()
    rows = range(len(columns["id"]))
    media = columns["media"]
    train = [row for row in rows if media[row].startswith("train/")]
    test = [row for row in rows if media[row].startswith("test/")]
    names = [concept.lower().replace(" ", "_") for concept in CONCEPTS]
    labels = lambda row: [int(columns[concept][row]) for concept in CONCEPTS]
    for folder in ["photos", "new"]:
        os.makedirs(os.path.join(out, folder))

    def write(name, head, lines):
        with open(os.path.join(out, name), "w", newline="") as file:
            csv.writer(file).writerows([head + names, *lines])

    labelled = []
    for number, row in enumerate(train[:2000] + test[:400]):
        name = f"img_{number:04}"
        shutil.copy(os.path.join(world, media[row]), os.path.join(out, "photos", f"{name}.jpg"))
        labelled.append([name, f"{name}.jpg", "train" if number < 2000 else "test", *labels(row)])
    write("samples.csv", ["id", "media", "split"], labelled)
    truth = []
    for number, row in enumerate(test[400:600]):
        name = f"dsc_{number:04}.jpg"
        shutil.copy(os.path.join(world, media[row]), os.path.join(out, "new", name))
        truth.append([f"new/{name}", *labels(row)])
    write("new_truth.csv", ["id"], truth)
    split = lambda row: "train" if media[row].startswith("train/") else "test"
    write("all.csv", ["id", "media", "split"], [[columns["id"][row], media[row], split(row), *labels(row)] for row in rows])


main(*sys.argv[1:])
