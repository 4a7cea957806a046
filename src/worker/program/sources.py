"""The text of cells: tracebacks quote it, and a snapshot keeps functions and classes as text."""

import ast
import linecache

LINES = linecache.cache
CELLS_MAX = 300


def show_lines_of(file, code):
    """Lets tracebacks quote the code of the last CELLS_MAX cells."""
    state.cells.append(file)
    if CELLS_MAX < len(state.cells):
        LINES.pop(state.cells.pop(0), None)
    linecache.cache = LINES
    LINES[file] = (len(code), None, code.splitlines(keepends=True), file)


def remember_sources(tree, code):
    """Keeps the text of functions and classes: pickle would write only their names."""
    for node in tree.body:
        name = getattr(node, "name", None)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            name = getattr(node.targets[0], "id", None)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno] + [it.lineno for it in decorators]) - 1
        if name is not None:
            text = "".join(code.splitlines(keepends=True)[first:node.end_lineno])
            state.sources[name] = (state.cell, text)
