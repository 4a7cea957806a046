"""In place of a provider's container.

Code that ran in a container of a provider's found its files in a directory of a fixed name. The same
code runs here with its own directory in that place, and finds there what was uploaded.
"""

import ast
import re
from os import symlink, unlink
from shutil import copyfile

in_container = re.compile(r"/mnt/data(?![\w.-])").sub


class Here(ast.NodeTransformer):
    """Puts the directory of the code in the place of the container's, in what the code says as text."""

    def visit_Constant(self, node):
        if type(node.value) is str:
            node.value = in_container(SCRATCH.replace("\\", "\\\\"), node.value)
        return node


def display(*values):
    """Shows values as the container does: as text among what is printed."""
    for value in values:
        output[0].write(f"{value!r}\n")


def fill_container():
    """Puts what was uploaded where the code may change it."""
    for file, path in (start["container"] or {}).items():
        try:
            copyfile(path, f"{SCRATCH}/{file}")
        except OSError:  # larger than a file of the code may be
            unlink(f"{SCRATCH}/{file}")
            symlink(path, f"{SCRATCH}/{file}")
