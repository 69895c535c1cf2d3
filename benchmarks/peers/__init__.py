# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is timed, by name. A peer is a module with two functions:

versions() -> dict[str, str]
    Loads the peer and says what it is; ImportError where it is not installed.
prepare(...)
    What a peer wants its operands to look like is made here and not timed.

On a CPU, prepare(batch, isa, threads) -> (call, output): call() computes the batch
once; output() is its result afterwards, a numpy array [tokens, heads, columns] of any
float type. On a GPU, prepare(batch) -> device.Launch, or None for a batch that the
peer does not run.
"""

import importlib

PEERS = ("mla", "torch")
GPU_PEERS = ("mla", "flashinfer", "cudnn")
_MODULES = {"mla": "peers.ours", "torch": "peers.torch_cpu"}
_GPU_MODULES = {
    "mla": "peers.ours_gpu",
    "flashinfer": "peers.flashinfer_fa3",
    "cudnn": "peers.torch_cudnn",
}


def load(name: str):
    return importlib.import_module(_MODULES[name])


def load_gpu(name: str):
    return importlib.import_module(_GPU_MODULES[name])
