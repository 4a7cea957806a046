//! Charts on a terminal: a terminal that answers as it is told stands behind a real pseudo-terminal.

use std::{fs, iter};

use serde_json::Value;

use crate::bench::Bench;

/// Runs a command on a terminal of 80 × 50 cells of 10 × 20 pixels, and tells as JSON what it was
/// sent, what was left to read, whether its modes came back, how the command ended, and whether an answer
/// came when nobody waited for it any more.
///
/// Arguments: what is typed before, what is answered to a query, the command.
const TERMINAL: &str = r#"
import fcntl, json, os, pty, select, signal, struct, subprocess, sys, termios
before, answer, *command = [it.encode().decode("unicode_escape") for it in sys.argv[1:]]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 800, 1000))
os.write(ours, before.encode("latin1"))
modes = termios.tcgetattr(theirs)
def begin():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                           start_new_session=True, preexec_fn=begin)
sent, is_asked, is_late = b"", 0, False
while True:
    if select.select([ours], [], [], 0.05)[0]:
        sent += os.read(ours, 65536)
        if sent.count(b"\x1b[c") > is_asked:
            is_asked += 1
            # It waits in raw mode.
            is_late |= answer != "" and termios.tcgetattr(theirs)[3] & termios.ICANON != 0
            os.write(ours, answer.encode("latin1"))
    elif process.poll() is not None:
        break
same = termios.tcgetattr(theirs) == modes
raw = termios.tcgetattr(theirs)
raw[3] &= ~(termios.ICANON | termios.ECHO)
termios.tcsetattr(theirs, termios.TCSANOW, raw)
left = os.read(theirs, 4096) if select.select([theirs], [], [], 0)[0] else b""
print(json.dumps({"sent": sent.decode("utf-8", "replace"), "left": left.decode("latin1"),
                  "asked": is_asked, "late": is_late, "same": same, "code": process.returncode}))
"#;

const KITTY: &str = r"\x1b_Gi=31;OK\x1b\\\x1b[?62;c";
const SIXEL: &str = r"\x1b[?62;4;22c";
const PLAIN: &str = r"\x1b[?1;2c";
const SILENT: &str = "";
const CSV_AGENT: &str = "csv-agent show last";

/// What a terminal saw of a command.
struct Seen(Value);

impl Seen {
    fn sent(&self) -> &str {
        self.0["sent"].as_str().unwrap()
    }

    /// Demands that the terminal is as it was, with nothing left in it but `left`.
    #[track_caller]
    fn left(&self, left: &str) -> &Seen {
        assert_eq!(self.0["same"], true, "{}", self.0);
        assert_eq!(self.0["left"], left, "{}", self.0);
        self
    }

    /// Demands how often the terminal was asked, and what it was shown.
    #[track_caller]
    fn shows(&self, n_asked: u32, start: &str) -> &Seen {
        assert_eq!(self.0["asked"], n_asked, "{}", self.0);
        assert!(self.sent().contains(start), "{start:?} is not in {:?}", self.sent());
        assert!(self.sent().contains("chart 1: "), "{:?}", self.sent());
        self
    }
}

/// A session whose last turn has a chart.
fn bench() -> Bench {
    let bench = Bench::with(["sales.csv"]);
    let ask = ["ask", "-q", "-f", "sales.csv", "--model", "builtin"];
    let run = bench.run(ask.into_iter().chain(["chart total revenue by product"])).succeeds();
    assert!(run.stdout().contains("chart: "), "{run}");
    fs::write(bench.path("terminal.py"), TERMINAL).unwrap();
    bench
}

#[track_caller]
fn on(bench: &Bench, typed: &str, answer: &str, variables: &str, command: &str) -> Seen {
    let script =
        format!("env {variables} python3 terminal.py '{typed}' '{answer}' sh -c 'exec {command}'");
    let run = || bench.shell(&script, &[]).succeeds();
    let seen = || Seen(serde_json::from_str(run().stdout()).unwrap());
    // On a busy machine, the terminal may be late now and then.
    let in_time = iter::repeat_with(seen).take(16).find(|it| it.0["late"] == false);
    in_time.expect("a terminal that answers in time")
}

const XTERM: &str = "TERM=xterm-256color COLORTERM=truecolor";

#[test]
fn a_terminal_gets_what_it_says_it_shows() {
    let bench = bench();
    let kitty = "\u{1b}_Ga=T,f=100,q=2,c=44,r=20,";
    on(&bench, "", KITTY, XTERM, CSV_AGENT).left("").shows(1, kitty);
    on(&bench, "", SIXEL, XTERM, CSV_AGENT).left("").shows(1, "\u{1b}P0;1;0q\"1;1;444;400");
    on(&bench, "", PLAIN, XTERM, CSV_AGENT).left("").shows(1, "\u{1b}[38;2;31;128;196m█");
    on(&bench, "", SILENT, XTERM, CSV_AGENT).left("").shows(1, "█");
}

#[test]
fn what_was_typed_before_stays_and_what_follows_the_answer_as_well() {
    let bench = bench();
    on(&bench, r"ls\n", KITTY, XTERM, CSV_AGENT).left("ls\n").shows(0, "█");
    let eager = format!("{SIXEL}ls");
    on(&bench, "", &eager, XTERM, CSV_AGENT).left("ls").shows(1, "\u{1b}P0;1;0q");
}

#[test]
fn ctrl_c_while_the_terminal_is_asked_ends_the_program_and_leaves_the_terminal_as_it_was() {
    let bench = bench();
    let seen = on(&bench, "", r"\x03", XTERM, CSV_AGENT);
    assert_eq!(seen.left("").0["code"], -2, "{}", seen.0);
    assert!(!seen.sent().contains("chart 1"));
}

#[test]
fn a_terminal_is_not_asked_where_nobody_wants_to_know() {
    let bench = bench();
    let show = |variables: &str, flags: &str| {
        on(&bench, "", KITTY, variables, &format!("{CSV_AGENT} {flags}"))
    };
    show(XTERM, "--images never").left("").shows(0, "chart 1: ");
    show(XTERM, "--images blocks").left("").shows(0, "█");
    show(XTERM, "--images sketch").left("").shows(0, "Column chart \"");
    show(XTERM, "--images iterm").left("").shows(0, "\u{1b}]1337;File=inline=1;");
    show(XTERM, "--color never").left("").shows(0, "█");
    show("TERM=dumb", "").left("").shows(0, "Column chart \"");
    show("TERM=xterm-256color TERM_PROGRAM=iTerm.app", "").left("").shows(0, "\u{1b}]1337;");
    show(&format!("NO_COLOR=1 {XTERM}"), "").left("").shows(0, "█");
    show(XTERM, "</dev/null").left("").shows(0, "█");
    let plain = show(&format!("NO_COLOR=1 {XTERM}"), "");
    assert!(!plain.sent().contains('\u{1b}'), "{:?}", plain.sent());
}

#[test]
fn a_pipe_gets_paths_whatever_is_asked_for() {
    let bench = bench();
    let run = bench.run(["show", "--images", "kitty"]).succeeds();
    assert!(run.stdout().contains("chart: ") && !run.stdout().contains('\u{1b}'), "{run}");
}

#[test]
fn ask_shows_the_chart_where_its_path_was_told_and_the_reply_after_it() {
    let bench = bench();
    let command = "csv-agent ask --model builtin --no-stream \"chart total revenue by product\"";
    let seen = on(&bench, "", SIXEL, XTERM, command);
    seen.left("").shows(1, "\u{1b}P0;1;0q");
    let (picture, reply) = seen.sent().split_once("chart 1: ").unwrap();
    assert!(picture.contains("\u{1b}\\\r\n"), "{picture:?}");
    assert!(reply.contains("I read this as"), "{reply:?}");
}

#[test]
fn doctor_says_how_charts_are_shown() {
    let bench = bench();
    let seen = on(&bench, "", SIXEL, XTERM, "csv-agent doctor --offline --width 200");
    assert!(seen.left("").sent().contains("charts as pictures (sixel)"), "{:?}", seen.sent());
    let run = bench.run(["doctor", "--offline", "--json"]);
    assert!(run.stdout().contains("charts by their paths"), "{run}");
}
