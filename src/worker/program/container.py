"""The worker in place of a provider's container.

Code in a provider's container finds its files in `/mnt/data`. The same code runs here in its own directory:
that path is replaced in the text of the code, and the uploaded files are copied there.
"""

import ast
import re
from os import symlink, unlink
from shutil import copyfile

in_container = re.compile(r"/mnt/data(?![\w.-])").sub


class Here(ast.NodeTransformer):
    """Replaces the container's directory by that of the code in every string of the code."""

    def visit_Constant(self, node):
        if type(node.value) is str:
            node.value = in_container(SCRATCH.replace("\\", "\\\\"), node.value)
        return node


def display(*values):
    """Shows values as the container does: as text among what is printed."""
    for value in values:
        output[0].write(f"{value!r}\n")


def fill_container():
    """Copies the uploaded files into the directory of the code, which may change them."""
    for file, path in (start["container"] or {}).items():
        try:
            copyfile(path, f"{SCRATCH}/{file}")
        except OSError:  # the file is larger than code may write
            unlink(f"{SCRATCH}/{file}")
            symlink(path, f"{SCRATCH}/{file}")
