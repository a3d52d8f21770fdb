#!/usr/bin/env python3
"""Measures the shape of the code: size, long files and functions, type names, cycles between modules.

Usage: scripts/measure.py [FOLDER]      (default: this repository)

Counts production code only: no tests, no benches, no code behind `#[cfg(test)]`. A type name counts as a duplicate
when more than one type of the workspace has it. A cycle is a set of modules of one crate, above file level, that
depend on each other.
"""

import pathlib
import re
import sys
from collections import Counter, defaultdict

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
LONG_FILE, LONG_FUNCTION = 400, 60
TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union|type)\s+([A-Z]\w*)", re.M)
FUNCTION = re.compile(r"^(\s*)(?:pub(?:\([^)]*\))?\s+)?(?:const\s+|async\s+|unsafe\s+|extern\s+\"C\"\s+)*fn\s+(\w+)")
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod\s+\w+\s*\{")


def crates():
    """The source folders of the program, by crate."""
    found = {}
    for manifest in sorted(ROOT.rglob("Cargo.toml")):
        part = manifest.relative_to(ROOT).parts
        source = manifest.parent / "src"
        if "target" in part or "fuzz" in part or not source.is_dir():
            continue
        found[manifest.parent.name if len(part) > 1 else "interlock"] = source
    return found


def production(path):
    """The text of a file without its unit tests."""
    text = path.read_text()
    start = TEST_MODULE.search(text)
    return text[: start.start()] if start else text


def is_test(path, source):
    parts = path.relative_to(source).parts
    return "tests" in parts or parts[-1] == "tests.rs"


def long_functions(text):
    """Lengths of functions, by the indentation of their closing brace."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        head = FUNCTION.match(line)
        if not head or not has_body(lines, number):
            continue
        end = next((at for at in range(number, len(lines)) if re.match(rf"^{head[1]}\}}", lines[at])), number)
        if end - number + 1 > LONG_FUNCTION:
            yield head[2], end - number + 1


def has_body(lines, number):
    """A method that a trait only declares has none."""
    for line in lines[number:]:
        code = line.split("//")[0].rstrip()
        if code.endswith(";"):
            return False
        if code.endswith(("{", "}")):
            return True
    return False


def module_of(path, source):
    """The module directly below the root of the crate; the root itself is none."""
    first = path.relative_to(source).parts[0]
    return None if first in ("lib.rs", "main.rs") else first.removesuffix(".rs")


def uses(text):
    for found in re.finditer(r"\bcrate::(\{[^;]*?\}|\w+)", text):
        word = found[1]
        names = re.findall(r"(?:^\{|,)\s*(\w+)", word) if word.startswith("{") else [word]
        yield from names


def cycles(edges):
    """Strongly connected sets of more than one module."""
    order, low, stack, on_stack, sets = {}, {}, [], set(), []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        on_stack.add(node)
        for other in sorted(edges[node]):
            if other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            group = []
            while True:
                top = stack.pop()
                on_stack.discard(top)
                group.append(top)
                if top == node:
                    break
            if len(group) > 1:
                sets.append(sorted(group))

    for node in sorted(edges):
        if node not in order:
            visit(node)
    return sets


def main():
    size, types, files, functions, tangles = 0, Counter(), [], [], []
    for crate, source in crates().items():
        edges = defaultdict(set)
        names = {module_of(path, source) for path in source.rglob("*.rs")} - {None}
        for path in sorted(source.rglob("*.rs")):
            if is_test(path, source):
                continue
            text = production(path)
            size += len(re.sub(r"\s", "", text))
            types.update(TYPE.findall(text))
            lines = text.count("\n")
            where = path.relative_to(ROOT)
            if lines > LONG_FILE:
                files.append((lines, where))
            functions += [(length, f"{where} {name}") for name, length in long_functions(text)]
            module = module_of(path, source)
            if module:
                edges[module] |= {name for name in uses(text) if name in names and name != module}
        tangles += [f"{crate}: {' '.join(group)}" for group in cycles(edges)]
    repeated = {name: count for name, count in types.items() if count > 1}
    print(f"production size, non-blank characters   {size}")
    print(f"types                                   {sum(types.values())}")
    print(f"types that share their name             {sum(repeated.values())} ({len(repeated)} names)")
    print(f"cycles between modules of a crate       {len(tangles)}")
    print(f"files over {LONG_FILE} lines                    {len(files)}")
    print(f"functions over {LONG_FUNCTION} lines                 {len(functions)}")
    for title, rows in [("cycles", tangles), ("long files", files), ("long functions", functions)]:
        if rows:
            print(f"\n{title}")
        for row in sorted(rows, reverse=True):
            print("  " + (row if isinstance(row, str) else f"{row[0]:5}  {row[1]}"))
    if repeated:
        print("\nnames of several types")
        print("  " + " ".join(f"{name}×{count}" for name, count in sorted(repeated.items(), key=lambda one: -one[1])))


main()
