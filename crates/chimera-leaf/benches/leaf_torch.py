"""The networks of benches/leaf.rs in PyTorch, timed.

leaf_torch.py train|encode cnn|resnet18 SIDE BATCH STEPS THREADS FEATURES CONCEPTS GRID DETECTORS CHANNELS:POOL ...

Prints the seconds of STEPS steps, the better of both memory formats.
"""

import sys
import time

import torch
import torchvision
from torch import nn
from torch.nn import functional


class Bank(nn.Module):
    def __init__(self, layers, grid, detectors, features, concepts):
        super().__init__()
        self.convolutions = nn.ModuleList()
        inputs = 3
        self.pools = [pool for _, pool in layers]
        for outputs, _ in layers:
            self.convolutions.append(nn.Conv2d(inputs, outputs, 3, padding=1))
            inputs = outputs
        self.grid = grid
        self.detectors = nn.Conv2d(inputs, detectors, 1)
        self.features = nn.Linear(inputs * grid * grid + detectors, features)
        self.heads = nn.Linear(features, concepts)

    def encode(self, images):
        maps = images
        for convolution, pool in zip(self.convolutions, self.pools):
            maps = functional.relu(convolution(maps), inplace=True)
            if pool:
                maps = functional.max_pool2d(maps, 2, ceil_mode=True)
        anywhere = functional.relu(self.detectors(maps), inplace=True).amax((2, 3))
        if maps.shape[-1] != self.grid:
            maps = functional.adaptive_avg_pool2d(maps, self.grid)
        return functional.relu(self.features(torch.cat([maps.flatten(1), anywhere], 1)))

    def forward(self, images):
        return self.heads(self.encode(images))


class Resnet(nn.Module):
    def __init__(self, features, concepts):
        super().__init__()
        self.network = torchvision.models.resnet18(weights=None)
        self.network.fc = nn.Identity()
        self.features = nn.Linear(512, features)
        self.heads = nn.Linear(features, concepts)

    def encode(self, images):
        return functional.relu(self.features(self.network(images)))

    def forward(self, images):
        return self.heads(self.encode(images))


def timed(task, bank, images, labels, steps):
    optimizer = torch.optim.Adam(bank.parameters(), lr=1e-3, fused=True)

    def step():
        if task == "encode":
            with torch.inference_mode():
                bank.encode(images)
            return
        loss = functional.binary_cross_entropy_with_logits(bank(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    bank.train(task == "train")
    for _ in range(3):
        step()
    started = time.perf_counter()
    for _ in range(steps):
        step()
    return time.perf_counter() - started


def main():
    task, network = sys.argv[1:3]
    side, batch, steps, threads, features, concepts, grid, detectors = map(int, sys.argv[3:11])
    layers = [tuple(map(int, layer.split(":"))) for layer in sys.argv[11:]]
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    seconds = []
    for memory_format in (torch.contiguous_format, torch.channels_last):
        bank = Bank(layers, grid, detectors, features, concepts) if network == "cnn" else Resnet(features, concepts)
        bank = bank.to(memory_format=memory_format)
        images = torch.rand(batch, 3, side, side).to(memory_format=memory_format)
        labels = (torch.rand(batch, concepts) < 0.5).float()
        seconds.append(timed(task, bank, images, labels, steps))
    print(min(seconds))


main()
