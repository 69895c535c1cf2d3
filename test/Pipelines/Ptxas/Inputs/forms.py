"""Prints a module with mla.prefill of DeepSeek-V3's widths, a function for each form of
the rope operand. Several masks are modules of their own, for -split-input-file.

usage: forms.py MASK... [--cache-offsets] [--page-size N] [--forms pages,rope,lengths]
"""

from __future__ import annotations

import argparse

Q, KV, INTS = "tensor<?x16x192xbf16>", "tensor<?x16x128xbf16>", "tensor<?xi32>"
WINDOWED = {
    "sliding_window_causal",
    "sliding_window_noncausal",
    "chunked",
    "chunked_causal",
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("masks", nargs="+")
    parser.add_argument("--cache-offsets", action="store_true")
    parser.add_argument("--page-size", default="64")
    parser.add_argument("--forms", default="pages,rope,lengths")
    options = parser.parse_args()
    modules = [
        "\n".join(build(mask, form, options) for form in options.forms.split(","))
        for mask in options.masks
    ]
    print("\n// -----\n".join(modules))


def build(mask: str, form: str, options: argparse.Namespace) -> str:
    arguments: dict[str, str] = {}

    def add(**types: str) -> str:
        arguments.update(types)
        return ", ".join(f"%{name}" for name in types)

    text = f"mla.prefill #mla.{mask}"
    if mask in WINDOWED:
        text += f" parameters({add(window='i32')})"
    text += f" queries({add(q=Q, input_row_offsets=INTS)})"
    keys = add(k=KV, v=KV, buffer_row_offsets=INTS)
    if options.cache_offsets:
        keys += ", " + add(cache_offsets=INTS)
    text += f" keys({keys})"
    if form == "pages":
        cache = f"tensor<?x1x?x{options.page_size}x1x576xbf16>"
        table = "tensor<?x?xi32>"
        pages = add(cache=cache, table=table, lengths=INTS, layer="i32")
        text += f" pages({pages})"
    elif form == "rope":
        text += f" rope({add(k_rope='tensor<?x64xbf16>')})"
    else:
        text += f" rope({add(k_rope='tensor<?x64xbf16>', lengths=INTS)})"
    text += f" scale({add(scale='f32')})"
    text += f" outs({add(output=KV, lse='tensor<?x16xf32>')})"
    results = f"({KV}, tensor<?x16xf32>)"
    signature = ", ".join(f"%{name}: {kind}" for name, kind in arguments.items())
    return f"""func.func @{form}({signature}) -> {results} {{
  %o:2 = {text}
      : ({", ".join(arguments.values())}) -> {results}
  return %o#0, %o#1 : {KV}, tensor<?x16xf32>
}}"""


if __name__ == "__main__":
    main()
