# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled kernels on disk: found again, and never in the way of a compilation.

Each compilation is a process of its own, with a cache of the test's own.
"""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import textwrap

import mla
import pytest
from mla import _capi

MODULE = """
func.func @scale(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %factor = arith.constant {factor} : f32
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}} outs(%x : tensor<?xf32>) {{
  ^bb0(%e: f32):
    %y = arith.mulf %e, %factor : f32
    linalg.yield %y : f32
  }} -> tensor<?xf32>
  return %r : tensor<?xf32>
}}
"""
# `scale(text)` compiles, and gives what becomes of [1, 2].
CHILD = """
import json, os, sys
import numpy as np
from mla import _capi

def scale(text, target="cpu", entry=None):
    kernel = _capi.Kernel(text, target, entry)
    x = np.array([1, 2], np.float32)
    kernel.run([_capi.Tensor(x.ctypes.data, "f32", x.shape, (1,))])
    return x.tolist()

_capi.library()
{body}
print(json.dumps(result))
"""
PACKAGE = str(pathlib.Path(mla.__file__).parents[1])


def module(factor: float) -> str:
    return MODULE.format(factor=f"{factor:.1f}")


def start(cache, body: str, **environment: object) -> subprocess.Popen:
    """Runs Python statements that set `result`, in a process of its own."""
    variables = {"MLA_CACHE_DIR": cache, "PYTHONPATH": PACKAGE, **environment}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD.format(body=textwrap.dedent(body))],
        env=os.environ | {name: str(value) for name, value in variables.items()},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(cache, body: str, **environment: object):
    process = start(cache, body, **environment)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return json.loads(output)


def scale(cache, factor: float, **environment: object) -> list[float]:
    return run(cache, f"result = scale({module(factor)!r})", **environment)


def entries(cache: pathlib.Path) -> list[pathlib.Path]:
    return sorted(cache.glob("mla-*.o"))


def only(cache: pathlib.Path) -> pathlib.Path:
    (entry,) = entries(cache)
    return entry


def digest(entry: pathlib.Path, contents: bytes) -> bytes:
    key = entry.stem[len("mla-") :]
    return hashlib.sha256(key.encode() + contents).digest()


def is_valid(entry: pathlib.Path) -> bool:
    data = entry.read_bytes()
    return data[:4] == b"\x7fELF" and data[-32:] == digest(entry, data[:-32])


def names(cache: pathlib.Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


@pytest.fixture
def cache(tmp_path) -> pathlib.Path:
    """A folder that is not there yet."""
    return tmp_path / "cache"


@pytest.fixture
def entry(cache) -> pathlib.Path:
    """The entry of the kernel that doubles."""
    assert scale(cache, 2) == [2, 4]
    return only(cache)


# Found again.


def test_an_entry_is_what_runs(cache, entry):
    """With another kernel's code under its key, a module does what that one does."""
    assert scale(cache, 3) == [3, 6]
    (other,) = set(entries(cache)) - {entry}
    code = other.read_bytes()[:-32]
    entry.write_bytes(code + digest(entry, code))
    assert scale(cache, 2) == [3, 6]
    # And it is left as it is.
    assert entry.read_bytes()[:-32] == code


def test_signature_and_checks_are_those_of_the_module(cache):
    body = f"""
    import mla
    kernel = _capi.Kernel({module(2)!r})
    x = np.zeros(2, np.float64)
    try:
        kernel.run([_capi.Tensor(x.ctypes.data, "f64", x.shape, (1,))])
    except mla.Error as error:
        result = [[tuple(a) for a in kernel.arguments], str(error)]
    """
    compiled = run(cache, body)
    assert compiled[0] == [["x", "f32", [-1], True]]
    assert compiled[1].startswith("argument 0 ('x')")
    before = only(cache).stat().st_ino
    assert run(cache, body) == compiled
    assert only(cache).stat().st_ino == before


def test_rules_of_a_call(cache):
    """What an op demands of a call is demanded of a kernel from the disk too."""
    body = """
    import mla
    f32, i32 = np.float32, np.int32
    def call(scale):
        return mla.prefill(
            np.zeros((4, 1, 3), f32), np.zeros((4, 1, 2), f32),
            np.arange(8, dtype=f32).reshape(4, 1, 2), k_rope=np.zeros((4, 1), f32),
            buffer_row_offsets=np.array([0, 4], i32),
            input_row_offsets=np.array([0, 4], i32), scale=scale,
        )
    result = call(1.0)[:, 0, 0].tolist()
    try:
        call(-1.0)
    except (mla.Error, ValueError) as error:
        result.append(str(error))
    """
    compiled = run(cache, body)
    assert compiled[:4] == [0, 1, 2, 3]
    assert "scale" in compiled[4]
    assert run(cache, body) == compiled
    assert len(entries(cache)) == 1


# What decides.


def test_each_kernel_has_an_entry(cache, entry):
    two = module(2) + module(3).replace("@scale", "@other")
    run(
        cache,
        f"""
        result = [
            scale({module(2)!r}),
            scale({module(2)!r}, entry="scale"),  # the same one, named
            scale({two!r}, entry="scale"),
            scale({two!r}, entry="other"),
            scale({module(2)!r}, target="cpu-generic"),
        ]
        assert result == [[2, 4], [2, 4], [2, 4], [3, 6], [2, 4]], result
        """,
    )
    assert len(entries(cache)) == 4
    assert all(map(is_valid, entries(cache)))


GPU_MODULE = """
from mla.module import PrefillSignature, RopeSignature, prefill_module
signature = PrefillSignature(heads=1, nope=64, rope=64, value=64, dtype="bf16",
    output_dtype="bf16", rope_source=RopeSignature("bf16"))
_capi.Kernel(prefill_module(signature), "sm_90a")
result = None
"""


def test_ptxas_decides(cache, tmp_path):
    """Its path, its version, and whether there is one."""
    script = """\
#!/bin/sh
if [ "$1" = --version ]; then echo {version}; exit; fi
while [ $# -gt 1 ]; do shift; done
echo cubin >"$1"
"""

    def ptxas(name, version):
        path = tmp_path / name
        path.write_text(script.format(version=version))
        path.chmod(0o755)
        return path

    def count(**environment):
        run(cache, GPU_MODULE, CUDA_HOME="", **environment)
        return len(entries(cache))

    assert count(MLA_PTXAS=ptxas("one", 1)) == 1
    assert count(MLA_PTXAS=ptxas("one", 1)) == 1
    assert count(MLA_PTXAS=ptxas("one", 2)) == 2
    assert count(MLA_PTXAS=ptxas("two", 2)) == 3
    assert count(MLA_PTXAS="", PATH="/nonexistent") == 4
    assert count(MLA_PTXAS="", PATH="/nonexistent") == 4


def test_another_build_starts_anew(cache, entry, tmp_path):
    """A compiler that was linked anew, which its build id says, uses no old entry."""
    library = _capi.library_path().resolve()
    for name in ("libMLACompiler.so", "libMLARuntime.so"):
        shutil.copy(library.with_name(name), tmp_path)
    rebuilt = tmp_path / library.name
    # The note: sizes of name and contents, type 3, "GNU", the id.
    data = bytearray(rebuilt.read_bytes())
    note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"
    assert data.count(note) == 1
    data[data.index(note) + len(note)] ^= 1
    rebuilt.write_bytes(data)
    assert scale(cache, 2, MLA_COMPILER_LIBRARY=rebuilt) == [2, 4]
    assert len(entries(cache)) == 2
    # Without an id nothing is kept.
    data[data.index(note) + 8] = 99
    rebuilt.write_bytes(data)
    assert scale(cache, 3, MLA_COMPILER_LIBRARY=rebuilt) == [3, 6]
    assert len(entries(cache)) == 2


# Where it is.


def test_off(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = {"HOME": tmp_path, "XDG_CACHE_HOME": tmp_path}
    assert scale("off", 2, **home) == [2, 4]
    assert names(tmp_path) == []


@pytest.mark.parametrize("xdg, place", [("", ".cache/mla"), ("xdg", "xdg/mla")])
def test_default_place(tmp_path, xdg, place):
    caches = tmp_path / xdg if xdg else ""
    assert scale("", 2, HOME=tmp_path, XDG_CACHE_HOME=caches) == [2, 4]
    assert is_valid(only(tmp_path / place))


@pytest.mark.parametrize("cache", ["/proc/nothing", "/dev/null", "/dev/null/mla"])
def test_no_place(cache):
    assert scale(cache, 2) == [2, 4]


def test_no_home():
    assert scale("", 2, HOME="nowhere", XDG_CACHE_HOME="") == [2, 4]
    assert not pathlib.Path("nowhere").exists()


# Wrong entries.


def flip(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]


WRONG = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[:-100],
    "one_byte_short": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "bit_flipped": flip,
    "no_digest": lambda data: data[:-32],
    "zeros_for_its_end": lambda data: data[: len(data) // 2].ljust(len(data), b"\0"),
    "foreign": lambda data: b"not an object file, but as long as one may be\n" * 100,
}


@pytest.mark.parametrize("damage", WRONG.values(), ids=WRONG)
def test_wrong_entries_are_made_anew(cache, entry, damage):
    good = entry.read_bytes()
    entry.write_bytes(damage(good))
    assert scale(cache, 2) == [2, 4]
    assert entry.read_bytes() == good


def test_entry_of_another_kernel(cache, entry):
    good = entry.read_bytes()
    scale(cache, 3)
    (other,) = set(entries(cache)) - {entry}
    shutil.copy(other, entry)
    assert scale(cache, 2) == [2, 4]
    assert entry.read_bytes() == good


def test_folder_in_place_of_an_entry(cache, entry):
    entry.unlink()
    entry.mkdir()
    assert scale(cache, 2) == [2, 4]
    assert names(cache) == [entry.name]


# Writes that do not succeed.

LIMIT_FILES = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.{action})
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
result = scale({text!r})
"""


def test_killed_while_writing(cache):
    """By the kernel, in the middle of a file."""
    process = start(cache, LIMIT_FILES.format(action="SIG_DFL", text=module(2)))
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGXFSZ
    (left,) = cache.iterdir()
    assert left.suffix == ".tmp" and left.stat().st_size == 500
    # Nobody takes it for an entry.
    assert scale(cache, 2) == [2, 4]
    assert is_valid(only(cache))
    # It goes when there is no room for it.
    os.utime(left, (0, 0))
    scale(cache, 3, MLA_CACHE_SIZE=2 * only(cache).stat().st_size + 300)
    assert not left.exists() and len(entries(cache)) == 2


def test_disk_full(cache):
    """A write that fails half way: here files may have 500 bytes."""
    body = LIMIT_FILES.format(action="SIG_IGN", text=module(2))
    assert run(cache, body) == [2, 4]
    assert names(cache) == []
    # What was there is of use.
    scale(cache, 2)
    before = only(cache).stat().st_ino
    assert run(cache, body) == [2, 4]
    assert only(cache).stat().st_ino == before


# Root may write everywhere: be nobody from when the library is there.
NOBODY = "if os.geteuid() == 0: os.setegid(65534); os.seteuid(65534)\n"


def test_read_only_folder(cache, tmp_path):
    scale(cache, 3)
    code = only(cache).read_bytes()[:-32]
    only(cache).unlink()
    scale(cache, 2)
    entry = only(cache)
    entry.write_bytes(code + digest(entry, code))
    cache.chmod(0o555)
    # pytest's folders are the user's alone.
    for folder in tmp_path.parents:
        if folder.owner() == cache.owner() and folder.stat().st_mode & 0o77 == 0:
            folder.chmod(0o711)
    tmp_path.chmod(0o711)
    try:
        body = NOBODY + f"result = [scale(text) for text in {[module(2), module(4)]}]"
        # The one is found, the other compiled and not kept.
        assert run(cache, body) == [[3, 6], [4, 8]]
        assert names(cache) == [entry.name]
    finally:
        cache.chmod(0o755)


# Room.


def test_least_recently_used_goes(cache):
    times = {}
    for factor in (2, 3, 4):
        scale(cache, factor)
        (new,) = set(entries(cache)) - set(times.values())
        times[factor] = new
        os.utime(new, (1000 * factor, 1000 * factor))
    size = times[2].stat().st_size
    scale(cache, 2)  # a use
    scale(cache, 5, MLA_CACHE_SIZE=2 * size + size // 2)
    assert times[2].exists() and not times[3].exists() and not times[4].exists()
    assert len(entries(cache)) == 2
    assert sum(path.stat().st_size for path in entries(cache)) <= 2.5 * size


# Many at once.


def test_processes_and_threads_at_once(cache, entry):
    """They fill a cache that has room for half of what they compile."""
    texts = {factor: module(factor) for factor in range(2, 10)}
    body = f"""
    from concurrent.futures import ThreadPoolExecutor
    texts = {texts}
    def try_out(factor):
        return scale(texts[factor]) == [factor, 2 * factor]
    sys.stdin.readline()
    with ThreadPoolExecutor(4) as pool:
        result = list(pool.map(try_out, 3 * list(texts)))
    """
    go, told = os.pipe()
    processes = []
    for _ in range(3):
        variables = {
            "MLA_CACHE_DIR": str(cache),
            "MLA_CACHE_SIZE": str(4 * entry.stat().st_size),
            "PYTHONPATH": PACKAGE,
        }
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", CHILD.format(body=textwrap.dedent(body))],
                env=os.environ | variables,
                stdin=go,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
    os.close(go)
    os.close(told)  # the end of the file is the signal
    for process in processes:
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0
        assert json.loads(output) == 3 * len(texts) * [True]
    assert names(cache) == [path.name for path in entries(cache)]
    assert 1 <= len(entries(cache)) <= 4
    assert all(map(is_valid, entries(cache)))
