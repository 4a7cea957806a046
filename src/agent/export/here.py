"""Makes code that ran in a container run elsewhere: what it names there, and what it shows, goes through
functions of ours. The rest stays as it was."""

import ast
import re
import sys

CONTAINER = re.compile(r"/mnt/data(?![\w.-])")


class Wrapped(ast.NodeVisitor):
    """The places where calls of functions begin and end: line, byte, rank, text."""

    def __init__(self):
        self.places = []

    def wrap(self, node, function, rank):
        self.places.append((node.lineno, node.col_offset, rank, f"{function}("))
        self.places.append((node.end_lineno, node.end_col_offset, -rank, ")"))

    def visit_Constant(self, node):
        if isinstance(node.value, str) and CONTAINER.search(node.value):
            self.wrap(node, "_at", 3)

    def visit_JoinedStr(self, node):
        said = [it.value for it in node.values if isinstance(it, ast.Constant)]
        if any(map(CONTAINER.search, said)):
            self.wrap(node, "_at", 3)
        for it in node.values:
            # Before 3.12, nobody knows where the parts of such a text are.
            if isinstance(it, ast.FormattedValue) and (3, 12) <= sys.version_info:
                self.visit(it.value)

    def visit_Expr(self, node):
        # A text by itself says something to people only.
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_MatchValue(self, node):
        pass


def elsewhere(code, shows):
    """Returns code that does the same elsewhere; none where it is no Python."""
    try:
        tree = ast.parse(code)
        wrapped = Wrapped()
        wrapped.visit(tree)
        last = tree.body[-1] if tree.body else None
        if shows and isinstance(last, ast.Expr) and not code.rstrip().endswith(";") and not prints(last.value):
            # A tuple need not be in brackets.
            wrapped.wrap(last, "_show", 1)
            if isinstance(last.value, ast.Tuple):
                wrapped.wrap(last, "", 2)
        lines = [it.encode() for it in code.split("\n")]
        for line, byte, _, text in sorted(wrapped.places, reverse=True):
            begin = lines[line - 1]
            lines[line - 1] = begin[:byte] + text.encode() + begin[byte:]
        changed = b"\n".join(lines).decode()
        ast.parse(changed)
        return changed
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def prints(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def study(cells):
    return [elsewhere(*cell) for cell in cells]
