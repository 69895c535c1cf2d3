"""clang-tidy for every compiled file, skipping what passed unchanged before.

The key of a file is the content of everything that the compiler read for it
under the checkout (Ninja's dependency log knows), of .clang-tidy and of the
compile command, with the checkout's place taken out of it.
"""

import argparse
import concurrent.futures
import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def ninja_dependencies(build):
    """Object file -> files under the checkout that it was compiled from."""
    log = subprocess.run(
        ["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True
    ).stdout
    dependencies, current = {}, None
    for line in log.splitlines():
        if match := re.match(r"(\S+): #deps", line):
            current = dependencies.setdefault(match[1], [])
        elif line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
    return dependencies


def key_of(entry, dependencies, tidy_version):
    digest = hashlib.sha256(tidy_version.encode())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    digest.update(entry["command"].replace(str(ROOT), "").encode())
    source = Path(entry["file"])
    output = re.search(r" -o (\S+)", entry["command"])[1]
    for path in sorted({source, *dependencies.get(output, [])}):
        digest.update(str(path.relative_to(ROOT)).encode())
        digest.update(path.read_bytes() if path.exists() else b"")
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*", help="only these (default: all)")
    args = parser.parse_args()

    build = args.build.resolve()
    passed = build / "lint"
    passed.mkdir(exist_ok=True)
    tidy = shutil.which("clang-tidy-22") or "clang-tidy"
    version = subprocess.run(
        [tidy, "--version"], capture_output=True, text=True, check=True
    ).stdout
    dependencies = ninja_dependencies(build)
    wanted = {Path(file).resolve() for file in args.files}
    entries = [
        entry
        for entry in json.loads((build / "compile_commands.json").read_text())
        if not wanted or Path(entry["file"]) in wanted
    ]

    def check(entry):
        stamp = passed / key_of(entry, dependencies, version)
        if stamp.exists():
            return True
        result = subprocess.run(
            [tidy, "-p", build, "--quiet", entry["file"]],
            capture_output=True,
            text=True,
        )
        if result.returncode == 0:
            stamp.write_text(entry["file"] + "\n")
            return True
        print(result.stdout, end="")
        print(f"lint: {Path(entry['file']).relative_to(ROOT)} failed", flush=True)
        return False

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(check, entries))
    print(f"lint: {sum(results)} files clean, {results.count(False)} not")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
