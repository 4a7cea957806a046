//! A thousand calls in one session, honest and hostile, with processes killed at any moment.

use std::fs;
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{sleep, timeout};

use csv_agent_worker::protocol::OutcomeStatus;

use crate::bench::{HANG, is_slow_run};
use crate::hostile::{ENDLESS, Target, snippets};
use crate::kill::Chance;
use crate::worker::{processes_of, until};

/// Code that says whether pandas works.
const HONEST: &str = "import pandas as pd\nframe = pd.DataFrame({'a': range(1000)})\n\
                      int(frame.groupby(frame.a % 7).a.sum().sum())";
/// Longest time of one call with all that follows it.
const CALL: Duration = Duration::from_secs(3 * HANG.as_secs());

/// What this process holds: open descriptors, and megabytes of memory.
fn held() -> (usize, u64) {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    let n_pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    (fs::read_dir("/proc/self/fd").unwrap().count(), (n_pages * 4096) >> 20)
}

/// Kills a process of the worker, whichever it is, a moment after a call was sent.
async fn kill_during_call(target: &mut Target, chance: &mut Chance) {
    let processes = processes_of(target.scratch());
    let process = processes.get(usize::try_from(chance.per_mille()).unwrap() % 4);
    let pid = process.map(|it| it.trim_start_matches("/proc/").parse().unwrap());
    let delay = Duration::from_millis(u64::from(chance.per_mille() / 20));
    let killer = tokio::spawn(async move {
        sleep(delay).await;
        // It may have ended by itself.
        let _ = pid.map(|it| kill(Pid::from_raw(it), Signal::SIGKILL));
    });
    // Both ends are right: the call was faster, or it tells that the process is gone.
    let _ = target.run(HONEST).await;
    killer.await.unwrap();
}

/// In a process of its own: what other tests hold open meanwhile is not this session's.
#[test]
fn a_thousand_calls_leave_a_whole_session() {
    let process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "chaos::a_process_with_a_thousand_calls", "--ignored"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&process.stdout);
    assert!(process.status.success() && told.contains("1 passed"), "{told}");
}

/// Not a test: the process that the one above looks at.
#[tokio::test]
#[ignore = "runs as a part of another test"]
async fn a_process_with_a_thousand_calls() {
    let n_calls = if is_slow_run() { 1_000 } else { 60 };
    // A thousand calls have no time for the others.
    let attacks: Vec<_> =
        snippets().into_iter().filter(|(name, _)| !ENDLESS.contains(&name.as_str())).collect();
    let mut chance = Chance(11);
    let mut target = Target::new(&[]);
    // A busy machine is no attack.
    target.command_timeout = HANG;
    let mut is_clean = true;
    let mut at_start = None;
    for n in 0..n_calls {
        let attack = usize::try_from(chance.per_mille()).unwrap() % attacks.len();
        let (name, snippet) = &attacks[attack];
        let call = async {
            match chance.per_mille() {
                0..500 => {
                    let outcome = target.run(HONEST).await;
                    let ok = outcome.ok().filter(|it| it.status == OutcomeStatus::Ok);
                    let is_right = ok.is_some_and(|it| it.text() == "499500");
                    assert!(is_right || !is_clean, "call {n}");
                }
                500..750 => {
                    let value = target.attack(snippet).await;
                    assert_ne!(value.as_deref(), Some("reached"), "{name} at call {n}");
                    is_clean = false;
                }
                750..850 => {
                    kill_during_call(&mut target, &mut chance).await;
                    is_clean = false;
                }
                _ => {
                    target.stop().await;
                    is_clean = true;
                }
            }
        };
        timeout(CALL, call).await.unwrap_or_else(|_| panic!("call {n} hangs, with {name}"));
        if n == n_calls / 10 {
            target.stop().await;
            is_clean = true;
            at_start = Some(held());
        }
    }
    target.stop().await;
    until(|| processes_of(target.scratch()).is_empty()).await;
    let (descriptors, megabytes) = at_start.unwrap();
    let at_end = held();
    assert!(at_end.0 <= descriptors, "{descriptors} descriptors became {}", at_end.0);
    assert!(at_end.1 <= megabytes + 64, "{megabytes} MB became {}", at_end.1);
    assert_eq!(target.run(HONEST).await.unwrap().text(), "499500");
    target.stop().await;
}
