# Tries to type a command into the user's terminal.
import fcntl, termios
for fd in range(256):
    try: fcntl.ioctl(fd, termios.TIOCSTI, b"x")
    except OSError: continue
    done = True
assert done
"reached"
