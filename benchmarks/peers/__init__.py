# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is timed, by name. A peer is a module with two functions:

versions() -> dict[str, str]
    Loads the peer and says what it is; ImportError where it is not installed.
prepare(batch, isa, threads) -> (call, output)
    call() computes the batch once; output() is its result afterwards, a numpy
    array [tokens, heads, columns] of any float type. What a peer wants its
    operands to look like is made here and not timed.
"""

import importlib

PEERS = ("mla", "torch")
_MODULES = {"mla": "peers.ours", "torch": "peers.torch_cpu"}


def load(name: str):
    return importlib.import_module(_MODULES[name])
