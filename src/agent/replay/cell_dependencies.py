"""What pieces of code read and make, found without running them."""

import ast
import builtins
import re
import sys

MUTATORS = {"add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove",
            "reverse", "setdefault", "sort", "update"}


class Outline(ast.NodeVisitor):
    """Names in the order in which a module's statements come to them."""

    def __init__(self):
        self.reads, self.binds, self.may_bind, self.touches = set(), set(), set(), set()
        self.shown = None  # the last expression, if it has a value

    def read(self, name):
        # Builtins too: an earlier step may have taken the name.
        if name not in self.binds:
            self.reads.add(name)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.read(node.id)
        else:
            self.binds.add(node.id)

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self.visit_target(target)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)
            self.visit_target(node.target)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            self.read(node.target.id)
            self.touches.add(node.target.id)
        self.visit_target(node.target)

    def visit_target(self, target):
        if isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.visit_target(part)
        elif isinstance(target, ast.Starred):
            self.visit_target(target.value)
        else:
            self.touch(target)
            self.visit(target)

    def touch(self, node):
        """Notes the variable that an attribute or an element belongs to as changed."""
        inner = False
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            node, inner = node.func if isinstance(node, ast.Call) else node.value, True
        if inner and isinstance(node, ast.Name):
            self.touches.add(node.id)

    def visit_For(self, node):
        # The target is made before the body reads it.
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    visit_AsyncFor = visit_For

    def visit_Delete(self, node):
        for target in node.targets:
            self.touch(target)
            self.visit(target)

    def visit_Call(self, node):
        name = node.func.id if isinstance(node.func, ast.Name) else None
        if name in ("exec", "eval", "globals", "locals", "vars", "setattr"):
            self.touches.add("*")
        elif name is not None and not hasattr(builtins, name):
            # A function of the code's own may change what it is given.
            self.touch_arguments(node)
        in_place = any(it.arg == "inplace" for it in node.keywords)
        if isinstance(node.func, ast.Attribute) and (in_place or node.func.attr in MUTATORS):
            self.touch(node.func)
        self.generic_visit(node)

    def touch_arguments(self, call):
        given = [*call.args, *(it.value for it in call.keywords)]
        self.touches.update(it.id for it in given if isinstance(it, ast.Name))

    def visit_Expr(self, node):
        # What is called for its effect has one: on what it belongs to, or on what it is given.
        call = node.value
        if isinstance(call, ast.Call) and node is not self.shown:
            if isinstance(call.func, ast.Attribute):
                self.touch(call.func)
                self.touch_arguments(call)
        self.visit(call)

    def visit_named(self, node):
        # `except Error as error`, and names in a pattern.
        if node.name is not None:
            self.binds.add(node.name)
        self.generic_visit(node)

    visit_ExceptHandler = visit_MatchAs = visit_MatchStar = visit_named

    def visit_If(self, node):
        self.visit(node.test)
        self.either([node.body, node.orelse])

    def visit_Match(self, node):
        self.visit(node.subject)
        self.either([[it] for it in node.cases] + [[]])

    def either(self, branches):
        """Takes what every branch makes as made. Loops are taken to run at least once."""
        before, made = set(self.binds), []
        for branch in branches:
            self.binds = set(before)
            for node in branch:
                self.visit(node)
            made.append(self.binds)
        self.binds = set.intersection(*made)
        self.may_bind |= set.union(*made) - self.binds

    def visit_Import(self, node):
        for alias in node.names:
            self.binds.add(alias.asname or alias.name.split(".")[0])

    visit_ImportFrom = visit_Import

    def visit_FunctionDef(self, node):
        for it in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(it)
        self.binds.add(node.name)
        self.visit_scope(node.args, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.visit_scope(node.args, [node.body])

    def visit_ClassDef(self, node):
        for it in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(it)
        self.binds.add(node.name)
        self.visit_scope(None, node.body)

    def visit_scope(self, args, body):
        """Takes over what a function or class reads from outside, and what it changes there."""
        inner = Outline()
        if args is not None:
            named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
            inner.binds.update(it.arg for it in [*named, *filter(None, (args.vararg, args.kwarg))])
        for node in body:
            inner.visit(node)
        own = inner.binds | inner.may_bind
        for name in inner.reads - own:
            self.read(name)
        self.touches |= inner.touches - own

    def visit_ListComp(self, node):
        inner = Outline()
        for part in node.generators:
            inner.visit(part.iter)
            inner.visit(part.target)
            for test in part.ifs:
                inner.visit(test)
        for part in ("key", "value", "elt"):
            if hasattr(node, part):
                inner.visit(getattr(node, part))
        for name in inner.reads:
            self.read(name)
        self.touches |= inner.touches - inner.binds

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp


CONTAINER = "/mnt/data"
LISTS = {"glob", "iglob", "iterdir", "listdir", "rglob", "scandir", "walk"}


class Files(ast.NodeVisitor):
    """Files that code names in the directory of its container."""

    def __init__(self):
        self.files, self.written, self.taken, self.is_open = set(), set(), set(), False
        self.imports = set()

    def visit_Constant(self, node):
        self.files.update(file_of(node))
        self.is_open |= node.value in (CONTAINER, CONTAINER + "/")

    def visit_JoinedStr(self, node):
        # Its name is made when it runs.
        said = [it.value for it in node.values if isinstance(it, ast.Constant)]
        self.is_open |= any(CONTAINER in it or re.search(r"\.[a-z]\w{1,7}$", it) for it in said)
        self.generic_visit(node)

    def visit_Call(self, node):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        self.is_open |= name in LISTS
        given = [*node.args, *(it.value for it in node.keywords)]
        files = {file for it in given for file in file_of(it)}
        modes = [it.value for it in given if isinstance(it, ast.Constant) and isinstance(it.value, str)]
        if name.startswith(("to_", "save", "write")):
            self.written |= files
        elif name == "open" and any(re.fullmatch(r"[rbt+]*[wax][rbt+]*", it) for it in modes):
            self.written |= files
        elif name == "open" or name.startswith("read_"):
            self.taken |= files
        self.generic_visit(node)

    def visit_Import(self, node):
        self.imports.update(it.name.split(".")[0] for it in node.names)

    def visit_ImportFrom(self, node):
        if node.module and not node.level:
            self.imports.add(node.module.split(".")[0])


def file_of(node):
    """Returns the file that a text names, if it names one."""
    text = node.value if isinstance(node, ast.Constant) else None
    found = isinstance(text, str) and re.fullmatch(r"(?:/mnt/data/|\./)?([\w.-][\w ./-]*\.[A-Za-z]\w{0,7})", text)
    return {found[1]} if found else set()


def outline(code, has_value, is_hosted):
    """Returns what a piece of code reads and makes, and where its last expression is: in lines from 1 and
    bytes from 0; none when its value is not shown. Code that does not parse does nothing."""
    names = Outline()
    try:
        tree = ast.parse(code)
        names.shown = tree.body[-1] if has_value and tree.body else None
        names.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    files = Files()
    if is_hosted:
        files.visit(tree)
    last = tree.body[-1] if tree.body else None
    is_shown = isinstance(last, ast.Expr) and not code.rstrip().endswith(";")
    return {
        "reads": sorted(names.reads), "binds": sorted(names.binds),
        "may_bind": sorted(names.may_bind), "touches": sorted(names.touches),
        "last": [last.lineno, last.col_offset, last.end_lineno, last.end_col_offset] if is_shown else None,
        "files": sorted(files.files), "written": sorted(files.written), "taken": sorted(files.taken),
        "is_open": files.is_open, "imports": sorted(files.imports - set(sys.stdlib_module_names)),
    }


def study(cells):
    return [outline(*cell) for cell in cells]
