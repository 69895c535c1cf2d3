"""Prints the ```mlir blocks of Markdown files, with `// -----` between them.

An attribute or a type alone becomes the definition of an alias.
"""

import re
import sys
from pathlib import Path

blocks = []
for page in sys.argv[1:]:
    blocks += re.findall(r"^```mlir\n(.*?)^```$", Path(page).read_text(), re.M | re.S)
blocks = [re.sub(r"\A([#!])", r"\1example = \1", block) for block in blocks]
print("// -----\n".join(blocks))
