# Tries to make every later process of the session die.
class Evil:
    def __reduce__(self):
        return (exec, ("import os; os._exit(0)",))
value = [Evil()]
1
# next process
"fine"
