# Tries to show a value whose text never ends.
class Endless:
    def __repr__(self):
        while True: pass
Endless()
