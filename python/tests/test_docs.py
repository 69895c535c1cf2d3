# Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What README.md and docs/ show works: code blocks, commands, paths, names."""

import ast
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys

import mla
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PIPELINE = ROOT / "docs" / "Pipeline.md"
PAGES = [
    README,
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "CONTRIBUTING.md",
    ROOT / "examples" / "README.md",
    ROOT / "benchmarks" / "README.md",
]


def blocks(page: pathlib.Path, language: str) -> list[str]:
    pattern = rf"^```{language}\n(.*?)^```$"
    found = re.findall(pattern, page.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{page.name} has no block of {language}"
    return found


def run(command: str, folder: pathlib.Path) -> str:
    path = f"{ROOT / 'build' / 'bin'}:{os.environ['PATH']}"
    process = subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


def test_readme_mlir(tmp_path):
    (module,) = blocks(README, "mlir")
    (tmp_path / "attention.mlir").write_text(module)
    (commands,) = blocks(README, "sh")
    output = run(commands, tmp_path)
    assert "scf.forall" in output
    assert "run: first" in output
    assert (tmp_path / "output.npy").exists()


def test_readme_c(tmp_path):
    compiler = shutil.which("clang-22") or shutil.which("cc")
    (program,) = blocks(README, "c")
    (module,) = blocks(README, "mlir")
    text = "\n".join(f'"{line}\\n"' for line in module.splitlines())
    (tmp_path / "main.c").write_text(
        # No arguments: the call is refused, with a message.
        f"{program}\nint main(void) {{ return attend({text}, NULL, 0) == 1 ? 0 : 1; }}"
    )
    lib = ROOT / "build" / "lib"
    run(
        f"{compiler} -std=c11 -Wall -Wextra -Werror main.c -I{ROOT}/include -L{lib} "
        f"-Wl,-rpath,{lib} -lMLACompiler -o main && ./main",
        tmp_path,
    )


def test_ahead_of_time(tmp_path):
    """The page's program, on the README's module and one token."""
    compiler = shutil.which("clang-22") or shutil.which("cc")
    (program,) = blocks(ROOT / "docs" / "CAPI.md", "c")
    (module,) = blocks(README, "mlir")
    (tmp_path / "attention.mlir").write_text(module)
    (tmp_path / "main.c").write_text(
        program
        + """
#include <stdio.h>
int main(void) {
  static float zeros[4][192], values[4][128], results[4][128];
  int32_t rows[] = {0, 1};
  for (int i = 0; i < 128; ++i)
    values[3][i] = i;
  Tensor3 q = {NULL, zeros, 0, {1, 4, 192}, {768, 192, 1}};
  Tensor3 k = {NULL, zeros, 0, {1, 4, 128}, {512, 128, 1}};
  Tensor3 v = {NULL, values, 0, {1, 4, 128}, {512, 128, 1}};
  Tensor3 output = {NULL, results, 0, {1, 4, 128}, {512, 128, 1}};
  Tensor2 rope = {NULL, zeros, 0, {1, 64}, {64, 1}};
  Tensor1 offsets = {NULL, rows, 0, {2}, {1}};
  const char *error = attend(&q, &offsets, &k, &v, &rope, 1, &output);
  printf("%s %g %g\\n", error ? error : "ok", results[3][127], results[0][1]);
}
"""
    )
    lib = ROOT / "build" / "lib"
    output = run(
        f"mla-run attention.mlir --emit-object=attention.o && "
        f"{compiler} -std=c11 -Wall -Wextra -Werror main.c attention.o -o main "
        f"-I{ROOT}/include -L{lib} -Wl,-rpath,{lib} -lMLARuntime -lm && ./main",
        tmp_path,
    )
    assert output == "ok 127 0\n"


@pytest.mark.parametrize(
    "page", [README, ROOT / "docs" / "Python.md"], ids=lambda page: page.name
)
def test_python(page, tmp_path):
    (tmp_path / "main.py").write_text("\n".join(blocks(page, "python")))
    run(f"{sys.executable} main.py", tmp_path)


def test_readme_torch():
    """The block for a GPU calls what there is; `gpu_python.py` runs it."""
    (block,) = blocks(README, "py")
    calls = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)]
    (call,) = (call for call in calls if ast.unparse(call.func) == "mla.prefill")
    given = {keyword.arg: None for keyword in call.keywords}
    inspect.signature(mla.prefill).bind(*call.args, **given)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_map_of_the_files():
    text = PIPELINE.read_text().split("## Map of the files")[1].split("\n## ")[0]
    for cell in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE):
        for path in re.findall(r"`([^`]+)`", cell):
            assert list(ROOT.glob(path)), path


def known_stages(target: str) -> list[str]:
    command = ["build/bin/mla-opt", f"--mla-lower=target={target} stop-after=?"]
    process = subprocess.run(
        command, cwd=ROOT, input="module {}", capture_output=True, text=True
    )
    return re.search(r"known: (.*)", process.stderr)[1].split(", ")


def test_targets_stages_and_passes():
    options = run("mla-opt --help", ROOT)
    (line,) = re.findall(r"^ *--mla-lower .*", options, re.MULTILINE)
    targets = re.search(r"for a target \(([^)]*)\)", line)[1].split(", ")
    assert all(f"`{target}`" in README.read_text() for target in targets)

    text = PIPELINE.read_text()
    headings = re.findall(r"^## Stages? (.*)", text, re.MULTILINE)
    named = {name for line in headings for name in re.findall(r"`(\w+)`", line)}
    assert named == {stage for target in targets for stage in known_stages(target)}

    known = set(re.findall(r"^ *--(mla-[\w-]+)", options, re.MULTILINE))
    tools = {"mla-opt", "mla-run", "mla-lsp-server"}
    passes = set(re.findall(r"`-*(mla-[a-z0-9-]+)`", text)) - tools
    assert passes <= known
