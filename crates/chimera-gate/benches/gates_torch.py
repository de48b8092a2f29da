"""The gates of benches/gates.rs and benches/score.rs in PyTorch, timed.

gates_torch.py single|stacked|score|rules GATES FEATURES BATCH SAMPLES EPOCHS THREADS

Prints the seconds of training (or scoring) all gates; every gate is an implication of two concepts over one z a sample.
With `rules`, GATES counts rules `A => (B & C)`, of two gates each.
"""

import sys
import time

import torch
from torch import nn
from torch.nn import functional


def chimeras(z, labels, rows, concepts):
    shift = int(torch.randint(1, len(rows), (1,)))
    other = rows.roll(shift)
    left, right = concepts
    target = torch.logical_or(~labels[rows, left], labels[other, right]).float()
    zero = torch.zeros(len(rows), 1)
    return torch.cat([z[rows], zero, z[other], zero], 1), target


def single(z, labels, gates, features, batch, epochs):
    for gate in range(gates):
        network = nn.Sequential(
            nn.Linear(2 * (features + 1), features), nn.ReLU(), nn.Linear(features, features), nn.ReLU(),
            nn.Linear(features, 1),
        )
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
        for _ in range(epochs):
            for rows in torch.randperm(len(z)).split(batch):
                inputs, target = chimeras(z, labels, rows, (gate % 16, (gate + 1) % 16))
                loss = functional.binary_cross_entropy_with_logits(network(inputs)[:, 0], target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


def stacked(z, labels, gates, features, batch, epochs):
    width = 2 * (features + 1)
    sizes = [(width, features), (1, features), (features, features), (1, features), (features, 1), (1, 1)]
    weights = [torch.empty(gates, *size).uniform_(-0.05, 0.05).requires_grad_() for size in sizes]
    optimizer = torch.optim.Adam(weights, lr=1e-3, fused=True)
    left = torch.arange(gates) % 16
    right = (torch.arange(gates) + 1) % 16
    for _ in range(epochs):
        for rows in torch.randperm(len(z)).split(batch):
            other = rows.roll(int(torch.randint(1, len(rows), (1,))))
            zero = torch.zeros(len(rows), 1)
            inputs = torch.cat([z[rows], zero, z[other], zero], 1).expand(gates, -1, -1)
            target = torch.logical_or(~labels[rows][:, left], labels[other][:, right]).float().T
            hidden = torch.relu(torch.baddbmm(weights[1], inputs, weights[0]))
            hidden = torch.relu(torch.baddbmm(weights[3], hidden, weights[2]))
            logits = torch.baddbmm(weights[5], hidden, weights[4])[:, :, 0]
            loss = functional.binary_cross_entropy_with_logits(logits, target, reduction="none").mean(1).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def score(z, gates, features, batch):
    networks = [
        nn.Sequential(
            nn.Linear(2 * (features + 1), features), nn.ReLU(), nn.Linear(features, features), nn.ReLU(),
            nn.Linear(features, 1),
        )
        for _ in range(gates)
    ]
    with torch.inference_mode():
        for rows in z.split(batch):
            zero = torch.zeros(len(rows), 1)
            inputs = torch.cat([rows, zero, rows, zero], 1)
            for network in networks:
                torch.sigmoid(network(inputs))


def rules(z, count, features, batch):
    def body():
        return nn.Sequential(
            nn.Linear(2 * (features + 1), features), nn.ReLU(), nn.Linear(features, features), nn.ReLU(),
        )

    networks = [(body(), nn.Linear(features, 1), body(), nn.Linear(features, 1)) for _ in range(count)]
    shift, scale = z.mean(0), 1 / z.std(0)
    with torch.inference_mode():
        for rows in z.split(batch):
            leaf = (rows - shift) * scale
            zero = torch.zeros(len(rows), 1)
            inputs = torch.cat([leaf, zero, leaf, zero], 1)
            for both, both_head, root, root_head in networks:
                node = both(inputs)
                torch.sigmoid(both_head(node))
                torch.sigmoid(root_head(root(torch.cat([leaf, zero, node, zero], 1))))


def main():
    what, *numbers = sys.argv[1:]
    gates, features, batch, samples, epochs, threads = map(int, numbers)
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    z = torch.rand(samples, features)
    labels = torch.rand(samples, 16) < 0.5
    task = {
        "single": lambda count: single(z, labels, count, features, batch, epochs),
        "stacked": lambda count: stacked(z, labels, count, features, batch, epochs),
        "score": lambda count: score(z, count, features, batch),
        "rules": lambda count: rules(z, count, features, batch),
    }[what]
    task(min(gates, 2))
    started = time.perf_counter()
    task(gates)
    print(time.perf_counter() - started)


main()
