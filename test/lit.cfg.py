# lit's view of the tests; the folders mirror include/mla.
import os

import lit.formats
import lit.util
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "MLA"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# Not lit tests: plugin sources, and the project that consumes an installation.
config.excludes = ["lib", "consumer", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.mla_obj_root, "test")

config.substitutions += [
    ("%mla_lib_dir", config.mla_lib_dir),
    ("%mla_tools_dir", config.mla_tools_dir),
    ("%mla_src_root", config.mla_src_root),
    ("%shlibext", config.shlibext),
    ("%cc", config.c_compiler),
    ("%python", config.python_executable),
]

# A variable of one CHECK-LABEL block must not leak into the next.
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
# Whatever means to compile does, and the user's cache stays as it is.
config.environment["MLA_CACHE_DIR"] = "off"

# With this switch every mla-opt also prints what it parsed, parses that, and
# compares: each test doubles as a round-trip test.
round_trip = ["--verify-roundtrip"] if os.getenv("MLA_OPT_CHECK_IR_ROUNDTRIP") else []

llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_system_environment(
    [
        "HOME",
        "TMPDIR",
        "ASAN_OPTIONS",
        "UBSAN_OPTIONS",
        "LSAN_OPTIONS",
        "CUDA_HOME",
        "MLA_PTXAS",
    ]
)
llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    [
        ToolSubst("mla-opt", extra_args=round_trip, unresolved="fatal"),
        ToolSubst("mla-run", unresolved="ignore"),
        ToolSubst("mla-lsp-server", unresolved="ignore"),
        ToolSubst("mlir-opt", unresolved="fatal"),
        ToolSubst("mlir-translate", unresolved="ignore"),
        ToolSubst("llvm-nm", unresolved="fatal"),
        ToolSubst("split-file", unresolved="fatal"),
    ],
    [config.mla_tools_dir, config.llvm_tools_dir],
)

if config.llvm_sanitizer:
    config.available_features.add("sanitizer")
    # LLVM's allocators poison memory in headers, which our files compile with the
    # sanitizer and the distribution's libraries do not: the two disagree.
    options = config.environment.get("ASAN_OPTIONS", "")
    config.environment["ASAN_OPTIONS"] = ":".join(
        filter(None, [options, "allow_user_poisoning=0"])
    )
if os.path.exists(os.path.join(config.mla_tools_dir, "mla-run")):
    config.available_features.add("mla-run")
# Where mla-nvvm-to-binary looks for the assembler; without it, PTX is the end.
home = os.getenv("CUDA_HOME", "")
folders = os.pathsep.join([config.environment["PATH"], os.path.join(home, "bin")])
if os.getenv("MLA_PTXAS") or lit.util.which("ptxas", folders):
    config.available_features.add("ptxas")
with open("/proc/cpuinfo") as cpuinfo:
    flags = cpuinfo.read()
for feature in ("avx2", "avx512f", "avx512_bf16", "amx_bf16"):
    if feature in flags:
        config.available_features.add(f"host-{feature}")
