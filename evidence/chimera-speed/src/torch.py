"""The work of `chimera experiment speed` in PyTorch, timed.

torch.py PART DEVICE SIZES

PART is machine, ceilings, leaf, gates or score; DEVICE is cpu or cuda; SIZES is JSON. Every measurement is a line of JSON:
{"what", "case", "by", "precision", "value", "unit"}, with "error" and no value where it failed.
"""

import contextlib
import gc
import json
import os
import statistics
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional

STARTED = time.perf_counter()
RUNS = 5
MEAN = (0.485, 0.456, 0.406)
DEVIATION = (0.229, 0.224, 0.225)


def tell(**line):
    print(json.dumps(line), flush=True)


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def seconds_a_step(step, device, budget):
    """The median of runs with one wait at the end of each, how many runs there were, and how far apart they are; the first steps
    are not counted."""

    def run(count):
        started = time.perf_counter()
        for _ in range(count):
            step()
        wait(device)
        return (time.perf_counter() - started) / count

    run(2)
    first = run(1)
    if first > budget:
        # Too slow for runs of many: the best of three steps, in case that one was held up.
        return min(first, run(1), run(1)), 1, None
    count = max(1, int(budget / RUNS / max(run(3), 1e-7)))
    runs = [run(count) for _ in range(RUNS)]
    return statistics.median(runs), RUNS, max(runs) / min(runs)


def set_precision(precision):
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    torch.backends.cudnn.allow_tf32 = precision == "tf32"


def measure(sizes, device, about, units, unit, make):
    """One measurement, which is also given back: `make` gives a step of so many units, and is not counted."""
    try:
        if time.perf_counter() - STARTED > sizes["seconds"]:
            tell(**about, unit=unit, value=None, error="there was no time left")
            return None
        set_precision(about["precision"])
        step = make()
        seconds, runs, spread = seconds_a_step(step, device, sizes["budget"])
        tell(**about, unit=unit, value=units / seconds, runs=runs, spread=spread)
        return units / seconds
    except Exception as error:  # Whatever fails, other measurements go on.
        words = str(error).strip().splitlines() or [""]
        tell(**about, unit=unit, value=None, error=f"{type(error).__name__}: {words[0]}")
        return None
    finally:
        step = make = None
        gc.collect()
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
        if device == "cuda":
            with contextlib.suppress(Exception):
                torch.cuda.empty_cache()


def compiled(function):
    return torch.compile(function, dynamic=False)


# Ceilings


def ceilings(sizes, device):
    side = sizes["side"]

    def product(kind):
        one, other = (torch.rand(side, side, device=device).to(kind) for _ in range(2))
        out = torch.empty(side, side, device=device, dtype=kind)
        return lambda: torch.mm(one, other, out=out)

    precisions = [("fp32", torch.float32)]
    if device == "cuda":
        precisions += [("tf32", torch.float32), ("bf16", torch.bfloat16)]
    for precision, kind in precisions:
        about = {"what": "product", "case": f"{side} x {side}", "by": "torch", "precision": precision}
        measure(sizes, device, about, 2 * side**3, "FLOP/s", lambda: product(kind))

    numbers = 1 << (22 if sizes["quick"] else 28)

    def copy():
        one, other = torch.zeros(numbers, device=device), torch.empty(numbers, device=device)
        return lambda: other.copy_(one)

    about = {"what": "copy", "case": f"{4 * numbers >> 20} MiB", "by": "torch", "precision": "fp32"}
    measure(sizes, device, about, 8 * numbers, "B/s", copy)


# Leaf banks


class Cnn(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.convolutions = nn.ModuleList()
        inputs = 3
        self.pools = [pool for _, pool in sizes["layers"]]
        for outputs, _ in sizes["layers"]:
            self.convolutions.append(nn.Conv2d(inputs, outputs, 3, padding=1))
            inputs = outputs
        self.grid = sizes["grid"]
        self.detectors = nn.Conv2d(inputs, sizes["detectors"], 1)
        self.width = inputs * self.grid**2 + sizes["detectors"]

    def forward(self, images):
        maps = images
        for convolution, pool in zip(self.convolutions, self.pools):
            maps = functional.relu(convolution(maps), inplace=True)
            if pool:
                maps = functional.max_pool2d(maps, 2, ceil_mode=True)
        anywhere = functional.relu(self.detectors(maps), inplace=True).amax((2, 3))
        if maps.shape[-1] != self.grid:
            maps = functional.adaptive_avg_pool2d(maps, self.grid)
        return torch.cat([maps.flatten(1), anywhere], 1)


def backbone(network, sizes):
    if network == "cnn":
        cnn = Cnn(sizes)
        return cnn, cnn.width
    import torchvision

    if network == "resnet18":
        model = torchvision.models.resnet18(weights=None)
        model.fc = nn.Identity()
        return model, 512
    model = torchvision.models.mobilenet_v2(weights=None)
    model.classifier = nn.Identity()
    return model, 1280


class Bank(nn.Module):
    """From frames as bytes, [N, S, S, 3], to logits."""

    def __init__(self, network, sizes, memory_format):
        super().__init__()
        self.backbone, width = backbone(network, sizes)
        self.features = nn.Linear(width, sizes["features"])
        self.heads = nn.Linear(sizes["features"], sizes["concepts"])
        self.memory_format = memory_format
        self.register_buffer("scale", 1 / (255 * torch.tensor(DEVIATION).view(1, 3, 1, 1)))
        self.register_buffer("shift", -(torch.tensor(MEAN) / torch.tensor(DEVIATION)).view(1, 3, 1, 1))

    def encode(self, frames):
        images = frames.permute(0, 3, 1, 2).to(torch.float32, memory_format=self.memory_format)
        images = torch.addcmul(self.shift, images, self.scale)
        return functional.relu(self.features(self.backbone(images)))

    def forward(self, frames):
        return self.heads(self.encode(frames))


def leaf_step(sizes, device, case, what, channels_last, compile_it):
    memory_format = torch.channels_last if channels_last else torch.contiguous_format
    bank = Bank(case["network"], sizes, memory_format).to(device).to(memory_format=memory_format)
    side, batch = case["side"], case["batch"]
    frames = torch.randint(0, 256, (batch, side, side, 3), dtype=torch.uint8)
    labels = (torch.rand(batch, sizes["concepts"]) < 0.5).float().to(device)
    if device == "cuda":
        frames = frames.pin_memory()

    def brought():
        return frames.to(device, non_blocking=True)

    if what == "encode":
        bank.eval()
        encode = compiled(bank.encode) if compile_it else bank.encode

        def step():
            with torch.inference_mode():
                encode(brought())

        return step
    bank.train()
    optimizer = torch.optim.Adam(bank.parameters(), lr=1e-3, fused=True)

    def loss_of(frames, labels):
        return functional.binary_cross_entropy_with_logits(bank(frames), labels)

    loss_of = compiled(loss_of) if compile_it else loss_of

    def step():
        loss = loss_of(brought(), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def warm(sizes, device):
    """Compiles all networks at once, each in a process of its own, into PyTorch's cache on disk: one after the other takes too long."""
    children = []
    for case in sizes["cases"]:
        for what in ("train", "encode"):
            words = json.dumps({**sizes, "cases": [case], "what": what, "threads": 1})
            command = [sys.executable, os.path.abspath(__file__), "warm", device, words]
            children.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    for child in children:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(max(1, 0.75 * sizes["seconds"] - (time.perf_counter() - STARTED)))
        if child.poll() is None:
            child.kill()
            child.wait()


def warm_one(sizes, device):
    set_precision("tf32" if device == "cuda" else "fp32")
    step = leaf_step(sizes, device, sizes["cases"][0], sizes["what"], True, True)
    step()
    wait(device)


def leaf(sizes, device):
    precision = "tf32" if device == "cuda" else "fp32"
    ways = [("torch eager", precision, False, False), ("torch channels_last", precision, True, False)]
    if device == "cuda":
        ways.append(("torch channels_last", "fp32", True, False))
    ways.append(("torch.compile", precision, True, True))
    for by, precision, channels_last, compile_it in ways:
        if compile_it and (os.cpu_count() or 1) >= 8:
            warm(sizes, device)
        for case in sizes["cases"]:
            for what in ("train", "encode"):
                about = {"what": what, "case": case["name"], "by": by, "precision": precision}
                step = lambda: leaf_step(sizes, device, case, what, channels_last, compile_it)
                measure(sizes, device, about, case["batch"], "images/s", step)


# Gates


class Samples:
    """z, and for each concept its samples in order: those without it first. Chimeras are drawn on the device."""

    def __init__(self, sizes, device):
        count, features, concepts = sizes["samples"], sizes["features"], sizes["concepts"]
        z = (torch.rand(count, features, device=device) - 0.5).clamp_min(0)
        self.z = (z - z.mean(0)) / z.std(0)
        labels = torch.rand(count, concepts, device=device) < 0.5
        self.order = labels.int().argsort(0).T.contiguous()
        self.without = (~labels).sum(0)

    def row(self, concept, holds):
        """A sample at random that has a concept, or has it not."""
        count, without = len(self.z), self.without[concept]
        first = torch.where(holds, without, 0)
        length = torch.where(holds, count - without, without)
        place = first + (torch.rand_like(first, dtype=torch.float32) * length).long()
        return self.order[concept, place.clamp_max(count - 1)]


def chimeras(z, samples, left, right):
    """Implications drawn so that true and false are alike: false is (1, 0), true one of the three others."""
    kind = torch.rand(left.shape, device=z.device)
    target = kind >= 0.5
    holds_left = (kind < 0.5) | (kind >= 5 / 6)
    holds_right = kind >= 2 / 3
    one, other = samples.row(left, holds_left), samples.row(right, holds_right)
    zero = torch.zeros(*left.shape, 1, device=z.device)
    return torch.cat([z[one], zero, z[other], zero], -1), target.float()


def stacked_step(sizes, device, case, compile_it):
    samples = Samples(sizes, device)
    gates, batch, features, hidden = case["gates"], case["batch"], sizes["features"], sizes["hidden"]
    shapes = [(2 * (features + 1), hidden), (1, hidden), (hidden, features), (1, features), (features, 1), (1, 1)]
    weights = [torch.empty(gates, *shape, device=device).uniform_(-0.05, 0.05).requires_grad_() for shape in shapes]
    optimizer = torch.optim.Adam(weights, lr=1e-3, fused=True)
    number = torch.arange(gates, device=device)
    left = (number % sizes["concepts"])[:, None].expand(gates, batch)
    right = ((number + 1) % sizes["concepts"])[:, None].expand(gates, batch)

    def loss_of(first, first_bias, second, second_bias, head, offset):
        inputs, target = chimeras(samples.z, samples, left, right)
        maps = torch.relu(torch.baddbmm(first_bias, inputs, first))
        maps = torch.relu(torch.baddbmm(second_bias, maps, second))
        logits = torch.baddbmm(offset, maps, head)[:, :, 0]
        loss = functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        return loss.mean(1).sum()

    loss_of = compiled(loss_of) if compile_it else loss_of

    def step():
        loss = loss_of(*weights)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def network(sizes, device):
    features, hidden = sizes["features"], sizes["hidden"]
    body = nn.Sequential(nn.Linear(2 * (features + 1), hidden), nn.ReLU(), nn.Linear(hidden, features), nn.ReLU())
    return body.to(device), nn.Linear(features, 1).to(device)


def single_step(sizes, device, batch):
    samples = Samples(sizes, device)
    body, head = network(sizes, device)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-3, fused=True)
    left = torch.zeros(batch, dtype=torch.long, device=device)
    right = left + 1

    def step():
        inputs, target = chimeras(samples.z, samples, left, right)
        loss = functional.binary_cross_entropy_with_logits(head(body(inputs))[:, 0], target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()

    return step


def gates(sizes, device):
    def stacked(by, precision, compile_it):
        for case in sizes["cases"]:
            about = {"what": "train", "case": case["name"], "by": by, "precision": precision}
            units = case["gates"] * case["batch"]
            step = lambda: stacked_step(sizes, device, case, compile_it)
            measure(sizes, device, about, units, "gate-samples/s", step)

    def single(precision):
        """The same for any number of gates, so it is measured once a batch size."""
        rates = {}
        for case in sizes["cases"]:
            about = {"what": "train", "case": case["name"], "by": "torch one by one", "precision": precision}
            batch = case["batch"]
            if rates.get(batch) is not None:
                tell(**about, unit="gate-samples/s", value=rates[batch])
                continue
            step = lambda: single_step(sizes, device, batch)
            rates[batch] = measure(sizes, device, about, batch, "gate-samples/s", step)

    precision = "tf32" if device == "cuda" else "fp32"
    stacked("torch stacked", precision, False)
    single(precision)
    stacked("torch.compile stacked", precision, True)
    if device == "cuda":
        stacked("torch stacked", "fp32", False)
        single("fp32")
        stacked("torch.compile stacked", "fp32", True)


# Scoring: rules `A => (B & C)`


def rules_one_by_one(sizes, device):
    networks = [(*network(sizes, device), *network(sizes, device)) for _ in range(sizes["rules"])]
    z = torch.rand(sizes["call"], sizes["features"], device=device)
    zero = torch.zeros(len(z), 1, device=device)

    def step():
        with torch.inference_mode():
            leaf = (z - 0.5) * 3.5
            inputs = torch.cat([leaf, zero, leaf, zero], 1)
            for both, both_head, root, root_head in networks:
                node = both(inputs)
                torch.sigmoid(both_head(node))
                torch.sigmoid(root_head(root(torch.cat([leaf, zero, node, zero], 1))))

    return step


def rules_stacked(sizes, device, compile_it):
    rules, features, hidden = sizes["rules"], sizes["features"], sizes["hidden"]
    shapes = [(2 * (features + 1), hidden), (1, hidden), (hidden, features), (1, features), (features, 1), (1, 1)]
    both, root = ([torch.rand(rules, *shape, device=device) - 0.5 for shape in shapes] for _ in range(2))
    z = torch.rand(sizes["call"], features, device=device)
    zero = torch.zeros(rules, len(z), 1, device=device)

    def gate(weights, inputs):
        maps = torch.relu(torch.baddbmm(weights[1], inputs, weights[0]))
        maps = torch.relu(torch.baddbmm(weights[3], maps, weights[2]))
        return maps, torch.sigmoid(torch.baddbmm(weights[5], maps, weights[4]))

    def score(z):
        leaf = ((z - 0.5) * 3.5).expand(rules, -1, -1)
        node, of_both = gate(both, torch.cat([leaf, zero, leaf, zero], 2))
        return of_both, gate(root, torch.cat([leaf, zero, node, zero], 2))[1]

    score = compiled(score) if compile_it else score

    def step():
        with torch.inference_mode():
            score(z)

    return step


def score(sizes, device):
    ways = [("torch one by one", lambda: rules_one_by_one(sizes, device))]
    if device == "cuda":
        ways.append(("torch stacked", lambda: rules_stacked(sizes, device, False)))
        ways.append(("torch.compile stacked", lambda: rules_stacked(sizes, device, True)))
    for precision in ["tf32", "fp32"] if device == "cuda" else ["fp32"]:
        for by, make in ways:
            about = {"what": "score", "case": sizes["name"], "by": by, "precision": precision}
            measure(sizes, device, about, sizes["rules"] * sizes["call"], "samples x rules/s", make)


def machine(_, device):
    import torchvision  # Found missing here, and not in the middle of a measurement.

    name = torch.cuda.get_device_name() if device == "cuda" else device
    tell(what="machine", case=f"{torch.__version__}, torchvision {torchvision.__version__}", by=name, value=None)


def main():
    part, device, sizes = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    torch.set_num_threads(sizes["threads"])
    torch.manual_seed(1)
    if device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("PyTorch finds no GPU")
    parts = {"machine": machine, "ceilings": ceilings, "leaf": leaf, "warm": warm_one, "gates": gates, "score": score}
    parts[part](sizes, device)


if __name__ == "__main__":
    main()
