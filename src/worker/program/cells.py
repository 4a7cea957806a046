"""Cells: the command that runs code, and the variables that derive from only the first rows of a dataset."""

import ast
from zlib import crc32


def run(request):
    """Runs code and shows its last expression, unless it ends with a semicolon."""
    code = request["code"]
    mention(code)
    state.cell = f"<cell {crc32(code.encode('utf-8', 'replace')):08x}>"
    show_lines_of(state.cell, code)
    tree = ast.parse(code, state.cell)
    remember_sources(tree, code)
    if IS_CONTAINER:
        tree = Here().visit(tree)
    sample = follow_samples(tree)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, state.cell, "exec"), namespace)
    result = {"kind": "none"}
    if last is not None:
        value = eval(compile(ast.Expression(last.value), state.cell, "eval"), namespace)
        if IS_CONTAINER:
            if value is not None and not code.rstrip().endswith(";"):
                display(value)
        elif not code.rstrip().endswith(";"):
            result = show(value)
    if sample is not None:
        result["sample"] = sample
    return {"result": result}


def follow_samples(tree):
    """Records which variables derive from only the first rows of a dataset.

    Returns the warning about these rows if everything that the code shows derives from them, else None.
    """
    shown = set()
    for statement in tree.body:
        used, made, sample = set(), {getattr(statement, "name", None)}, None
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
            elif isinstance(node, ast.Call) and any(it.arg == "n_rows" for it in node.keywords):
                sample = only_rows("the first rows of a dataset")
        if isinstance(statement, ast.AugAssign):
            used |= made
        sample = next((state.samples[it] for it in sorted(used - {None}) if it in state.samples), sample)
        if isinstance(statement, ast.Expr):
            shown.add(sample)
        elif sample is not None:
            state.samples.update(dict.fromkeys(made - {None}, sample))
        else:
            for name in made:
                state.samples.pop(name, None)
    return shown.pop() if len(shown) == 1 else None
