"""Labels of VidOR or VidVRD with Python's json: what `chimera import vidor` does, written down a second time. Called by the
benchmark `vidor`; alone, it prints the figures that tests compare with.

    python vidor_json.py SOURCE [T] [K_OBJ] [K_REL] [MIN_REL_SUPPORT]
"""

import json
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path


def texts(source):
    """All annotations as pairs of split and text. Train comes first, then paths are in order."""
    path = Path(source)
    if path.is_dir():
        names = sorted(str(file.relative_to(path)) for file in path.rglob("*.json"))
        read = lambda name: (path / name).read_bytes()
    else:
        archive = zipfile.ZipFile(path)
        names = sorted(name for name in archive.namelist() if name.endswith(".json"))
        read = archive.read
    for wanted in (True, False):
        for name in names:
            is_train = any(part in ("train", "training") for part in name.split("/"))
            if is_train == wanted:
                yield is_train, read(name)


def labels_of(text, wanted):
    """Objects and relations of one annotation in the middles of `wanted` equal parts."""
    annotation = json.loads(text)
    count = annotation["frame_count"]
    frames = {(2 * part + 1) * count // (2 * wanted) for part in range(wanted)}
    category = {track["tid"]: track["category"] for track in annotation["subject/objects"]}
    trajectories = annotation["trajectories"]
    objects = {category[box["tid"]] for frame in frames if frame < len(trajectories) for box in trajectories[frame]}
    relations = set()
    for relation in annotation["relation_instances"]:
        if any(relation["begin_fid"] <= frame < relation["end_fid"] for frame in frames):
            pair = category[relation["subject_tid"]], category[relation["object_tid"]]
            relations.add((pair[0], relation["predicate"], pair[1]))
            objects.update(pair)
    return objects, relations, len(trajectories) < count


def top(sets, limit, support):
    """The most frequent members, by name among equals."""
    counts = Counter(member for members in sets for member in members)
    ranked = sorted((-count, member) for member, count in counts.items() if count >= support)
    return [member for _, member in ranked[:limit]]


source = sys.argv[1]
wanted, top_objects, top_relations, support = [int(word) for word in sys.argv[2:]] + [8, 40, 200, 20][len(sys.argv) - 2 :]
start = time.perf_counter()
rows = [(is_train, *labels_of(text, wanted)) for is_train, text in texts(source)]
objects = top([row[1] for row in rows if row[0]], top_objects, 1)
relations = top([row[2] for row in rows if row[0]], top_relations, support)
object_ones = {name: sum(name in row[1] for row in rows) for name in objects}
relation_ones = {name: sum(name in row[2] for row in rows) for name in relations}
ones = sum(object_ones.values()) + sum(relation_ones.values())
print(time.perf_counter() - start, ones)
print(f"{len(rows)} files, {sum(row[0] for row in rows)} train, {sum(row[3] for row in rows)} with short trajectories")
print(f"{len(objects)} objects, {sum(object_ones.values())} ones:", [f"{o} {object_ones[o]}" for o in objects[:5]])
print(f"{len(relations)} relations, {sum(relation_ones.values())} ones:", [f"{'-'.join(r)} {relation_ones[r]}" for r in relations[:5]])
print(f"videos without any object: {sum(not row[1] for row in rows)}; without any relation: {sum(not row[2] for row in rows)}")
print("different train relations:", len({r for row in rows if row[0] for r in row[2]}))
