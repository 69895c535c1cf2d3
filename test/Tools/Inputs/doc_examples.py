"""Prints the ```mlir blocks of Markdown files, with `// -----` between them."""

import re
import sys
from pathlib import Path

blocks = []
for page in sys.argv[1:]:
    blocks += re.findall(r"^```mlir\n(.*?)^```$", Path(page).read_text(), re.M | re.S)
print("// -----\n".join(blocks))
