# Tries to overflow the stack.
import sys
sys.setrecursionlimit(10 ** 9)
def f(): return f()
f()
