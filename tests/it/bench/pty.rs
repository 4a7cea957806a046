//! A terminal: the program's own, with keys that are pressed and a screen that is looked at.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Bench, HANG};

/// A command on a terminal of its own.
pub struct Pty {
    child: RefCell<Child>,
    keys: File,
    /// With how many bytes it took.
    screen: Arc<Mutex<(vt100::Parser, usize)>>,
    /// How many there were when a key was pressed last: what was there before is no answer to it.
    n_before: Cell<usize>,
}

impl Bench {
    /// Starts a command on a terminal that is so many columns wide.
    pub fn on_terminal<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
        n_columns: u16,
    ) -> Pty {
        self.on_terminal_with(arguments, n_columns, None)
    }

    /// Starts a command whose stdout may be something else than its terminal.
    pub fn on_terminal_with<'a>(
        &self,
        arguments: impl IntoIterator<Item = &'a str>,
        n_columns: u16,
        stdout: Option<File>,
    ) -> Pty {
        let size = Winsize { ws_row: 50, ws_col: n_columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).unwrap();
        let end = |it: &OwnedFd| Stdio::from(it.try_clone().unwrap());
        let plain = self.command([""; 0]);
        // It makes the terminal that of the command, so that Ctrl-C there reaches it.
        let mut command = self.program("setsid");
        command.args(["--ctty", "--wait"]).arg(plain.get_program()).args(arguments);
        for (name, value) in plain.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        if !self.variables.iter().any(|it| it.0 == "TERM") {
            command.env("TERM", "xterm-256color");
        }
        let stdout = stdout.map_or_else(|| end(&pty.slave), Stdio::from);
        command.stdin(end(&pty.slave)).stdout(stdout).stderr(end(&pty.slave));
        let child = command.spawn().unwrap();
        let screen = Arc::new(Mutex::new((vt100::Parser::new(50, n_columns, 0), 0)));
        let mut output = File::from(pty.master.as_fd().try_clone_to_owned().unwrap());
        let seen = Arc::clone(&screen);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n_bytes) = output.read(&mut bytes) {
                if n_bytes == 0 {
                    break;
                }
                let mut seen = seen.lock().unwrap();
                seen.0.process(&bytes[..n_bytes]);
                seen.1 += n_bytes;
            }
        });
        Pty {
            child: RefCell::new(child),
            keys: File::from(pty.master),
            screen,
            n_before: Cell::new(0),
        }
    }
}

impl Pty {
    /// Presses keys: text, or the bytes that a key sends.
    pub fn press(&self, keys: &str) -> &Pty {
        self.n_before.set(self.screen.lock().unwrap().1);
        (&self.keys).write_all(keys.as_bytes()).unwrap();
        self
    }

    /// Waits until the screen has this text.
    #[track_caller]
    pub fn shows(&self, text: &str) -> &Pty {
        self.waits(&format!("`{text}`"), |screen| screen.contents().contains(text))
    }

    /// Waits until the line of the cursor is this, but for what is empty behind it.
    #[track_caller]
    pub fn has_line(&self, text: &str) -> &Pty {
        self.waits(&format!("the line `{text}`"), |screen| cursor_line(screen).trim_end() == text)
    }

    /// Waits until the prompt is there, with nothing typed.
    #[track_caller]
    pub fn is_ready(&self) -> &Pty {
        self.has_line(">")
    }

    /// Clears the screen, to see what comes next.
    #[track_caller]
    pub fn cleared(&self) -> &Pty {
        self.press("\x0c").waits("an empty screen", |screen| screen.cursor_position().0 == 0)
    }

    /// Returns what the screen shows.
    pub fn contents(&self) -> String {
        self.screen.lock().unwrap().0.screen().contents()
    }

    /// Sends a signal to the command.
    pub fn signal(&self, signal: Signal) -> &Pty {
        let setsid = self.child.borrow().id();
        let children = format!("/proc/{setsid}/task/{setsid}/children");
        let pid = std::fs::read_to_string(children).unwrap();
        kill(Pid::from_raw(pid.trim().parse().unwrap()), signal).unwrap();
        self
    }

    /// Returns whether the terminal edits lines itself, as a shell expects to find it.
    pub fn is_cooked(&self) -> bool {
        use nix::sys::termios::{LocalFlags, tcgetattr};
        let wanted = LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG;
        tcgetattr(&self.keys).unwrap().local_flags.contains(wanted)
    }

    /// Waits for the end and demands this status.
    #[track_caller]
    pub fn ends_with(&self, code: i32) {
        let deadline = Instant::now() + HANG;
        while Instant::now() < deadline {
            if let Some(status) = self.child.borrow_mut().try_wait().unwrap() {
                assert_eq!(status.code(), Some(code), "{}", self.contents());
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("it does not end:\n{}", self.contents());
    }

    #[track_caller]
    fn waits(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) -> &Pty {
        let deadline = Instant::now() + HANG;
        let has_come = || {
            let screen = self.screen.lock().unwrap();
            self.n_before.get() < screen.1 && is_so(screen.0.screen())
        };
        while !has_come() {
            let is_late = deadline < Instant::now();
            assert!(!is_late, "the screen does not have {what}:\n{}", self.contents());
            thread::sleep(Duration::from_millis(5));
        }
        self
    }
}

impl Drop for Pty {
    /// What still runs loses its terminal, and ends by that.
    fn drop(&mut self) {
        let child = self.child.get_mut();
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn cursor_line(screen: &vt100::Screen) -> String {
    let (row, _) = screen.cursor_position();
    let (_, n_columns) = screen.size();
    screen.rows(0, n_columns).nth(usize::from(row)).unwrap_or_default()
}
