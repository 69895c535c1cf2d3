"""Prints the ```mlir blocks of Markdown files, or of descriptions in TableGen files,
with `// -----` between them.

Attributes or types alone become definitions of aliases.
"""

import itertools
import re
import sys
import textwrap
from pathlib import Path

BLOCK = re.compile(r"^( *)```mlir\n(.*?)^\1```$", re.M | re.S)


def name_aliases(block: str) -> str:
    if block[0] not in "#!":
        return block
    number = itertools.count()
    return re.sub(
        r"^([#!])",
        lambda found: f"{found[1]}example{next(number)} = {found[1]}",
        block,
        flags=re.M,
    )


blocks = []
for page in sys.argv[1:]:
    for _, text in BLOCK.findall(Path(page).read_text()):
        blocks.append(name_aliases(textwrap.dedent(text)))
print("// -----\n".join(blocks))
