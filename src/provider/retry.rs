//! Retries: whether to repeat a failed request, and after which wait.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

use csv_agent_types::limits::{BACKOFF_MAX, RETRY_AFTER_MAX, RETRY_BUDGET};

use crate::Progress;
use crate::error::{ProviderError, ProviderErrorKind};
use crate::transport::Headers;

/// Waits for an overloaded server: the usual ones would add to its load.
const OVERLOAD_STEPS: [Duration; 3] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_mins(2)];

/// The attempts of one request.
#[derive(Debug)]
pub(crate) struct Tries {
    max: u32,
    failed: u32,
    waited: Duration,
}

/// The next attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Retry {
    /// The failed attempt, from 1.
    attempt: u32,
    /// Total number of attempts.
    max_attempts: u32,
    /// Wait before the next attempt.
    delay: Duration,
}

impl Tries {
    /// Allows one attempt and `retries` more.
    pub(crate) fn new(retries: u32) -> Tries {
        Tries { max: retries.saturating_add(1), failed: 0, waited: Duration::ZERO }
    }

    /// Records a failed attempt, reports the retry, and waits until it is due. Fails with the error, with the
    /// reason added, when there is no next attempt.
    pub(crate) async fn wait(
        &mut self,
        error: ProviderError,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(), ProviderError> {
        let (reason, http_status) = (error.message.clone(), error.http_status);
        let Retry { attempt, max_attempts, delay } = self.next(error)?;
        on_progress(Progress::Retrying { attempt, max_attempts, delay, reason, http_status });
        tokio::time::sleep(delay).await;
        Ok(())
    }

    /// Records a failed attempt and returns the next one. Fails with the error, with the reason added, when there
    /// is no next attempt: it would fail again, the attempts are used up, or the wait is too long.
    fn next(&mut self, mut error: ProviderError) -> Result<Retry, ProviderError> {
        self.failed += 1;
        let (stated, usual) = match error.kind {
            ProviderErrorKind::Transient { retry_after } => (retry_after, backoff(self.failed)),
            ProviderErrorKind::Overloaded { retry_after } => {
                let step = (self.failed as usize).min(OVERLOAD_STEPS.len()) - 1;
                (retry_after, jitter(OVERLOAD_STEPS[step]))
            }
            _ => return Err(error),
        };
        let delay = stated.unwrap_or(usual);
        let reason = if RETRY_AFTER_MAX < delay {
            let (wanted, max) = (delay.as_secs(), RETRY_AFTER_MAX.as_secs());
            Some(format!("the provider asks for a wait of {wanted} s, and the limit is {max} s"))
        } else if self.max <= self.failed {
            Some(format!("gave up after {} tries", self.failed)).filter(|_| 1 < self.failed)
        } else if RETRY_BUDGET < self.waited + delay {
            Some(format!("gave up after {} s of waiting", self.waited.as_secs()))
        } else {
            self.waited += delay;
            return Ok(Retry { attempt: self.failed, max_attempts: self.max, delay });
        };
        if let Some(reason) = reason {
            error.message = format!("{}; {reason}", error.message);
        }
        Err(error)
    }
}

/// Returns the wait that a provider requests, by header or in words. Zero does not count.
pub(crate) fn stated_delay(headers: &Headers, message: &str, now: Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name).map(|value| value.trim());
    let by_ms = header("retry-after-ms").and_then(|ms| seconds(ms, 0.001));
    let by_header = by_ms.or_else(|| {
        let value = header("retry-after")?;
        seconds(value, 1.0).or_else(|| {
            let at = rfc2822::parse(value).ok()?.timestamp();
            Duration::try_from(at.duration_since(now)).ok()
        })
    });
    by_header.or_else(|| delay_in_words(message)).filter(|delay| !delay.is_zero())
}

/// Finds the wait in text like `Please try again in 1m30.5s`.
fn delay_in_words(message: &str) -> Option<Duration> {
    const MARK: &str = "try again in";
    let message = message.to_ascii_lowercase();
    let mut rest = message[message.find(MARK)? + MARK.len()..].trim_start();
    let mut total = Duration::ZERO;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let tail = tail.trim_start();
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let scale = match unit {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => break,
        };
        let Some(part) = seconds(number, scale) else { break };
        total = total.saturating_add(part);
        rest = tail.trim_start();
    }
    (!total.is_zero()).then_some(total)
}

fn seconds(number: &str, scale: f64) -> Option<Duration> {
    let number: f64 = number.parse().ok()?;
    Duration::try_from_secs_f64(number * scale).ok()
}

/// Returns 0.5, 1, 2, 4 … seconds for the first, second … failure, up to [`BACKOFF_MAX`].
fn backoff(failed: u32) -> Duration {
    let step = Duration::from_millis(500).saturating_mul(2u32.saturating_pow(failed - 1));
    jitter(step.min(BACKOFF_MAX))
}

/// Shortens the wait by up to a quarter, so that clients that failed together do not return together.
fn jitter(delay: Duration) -> Duration {
    // A hasher's random seed is sufficient randomness here.
    let random = RandomState::new().build_hasher().finish() % 1024;
    let cut = delay / 4 * u32::try_from(random).unwrap_or(0) / 1024;
    delay.saturating_sub(cut)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::{Tries, stated_delay};
    use crate::error::{ProviderError, ProviderErrorKind};
    use crate::transport::Headers;

    #[track_caller]
    fn check_stated(headers: &[(&str, &str)], message: &str, ms: Option<u64>) {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let headers: Headers = headers.iter().map(owned).collect();
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        assert_eq!(stated_delay(&headers, message, now), ms.map(Duration::from_millis));
    }

    #[test]
    fn the_stated_delay_is_read_in_all_its_spellings() {
        check_stated(&[], "Rate limit reached. Please try again in 1.2s.", Some(1_200));
        check_stated(&[], "Please try again in 20ms. Visit", Some(20));
        check_stated(&[], "Try again in 1m30s", Some(90_000));
        check_stated(&[], "try again in 6m0s.", Some(360_000));
        check_stated(&[], "try again in 2 minutes 5 seconds", Some(125_000));
        check_stated(&[], "try again in 1h2m3.5s", Some(3_723_500));
        check_stated(&[], "try again in a while", None);
        check_stated(&[], "try again in 0s", None);
        check_stated(&[("retry-after", "7")], "try again in 1s", Some(7_000));
        check_stated(&[("retry-after", "0.5")], "", Some(500));
        check_stated(&[("retry-after", "7"), ("retry-after-ms", "20")], "", Some(20));
        check_stated(&[("retry-after", "Fri, 02 Jan 2026 03:04:15 GMT")], "", Some(10_000));
        check_stated(&[("retry-after", "Fri, 02 Jan 2026 03:04:00 GMT")], "", None);
        check_stated(&[("retry-after", "-3")], "", None);
        check_stated(&[("retry-after", "soon")], "", None);
        check_stated(&[("retry-after", "1e300")], "", None);
    }

    fn failed(retry_after: Option<Duration>) -> ProviderError {
        ProviderError::new(ProviderErrorKind::Transient { retry_after }, "down")
    }

    #[test]
    fn steps_double_with_jitter_up_to_the_maximum() {
        let mut tries = Tries::new(10);
        for step_ms in [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            let delay = tries.next(failed(None)).unwrap().delay;
            assert!(delay <= Duration::from_millis(step_ms), "{delay:?} of {step_ms}");
            assert!(Duration::from_millis(step_ms * 3 / 4) <= delay, "{delay:?} of {step_ms}");
        }
    }

    #[test]
    fn an_overloaded_server_is_given_more_time() {
        let mut tries = Tries::new(10);
        let error = || ProviderError::new(ProviderErrorKind::Overloaded { retry_after: None }, "");
        assert!(Duration::from_millis(3_750) <= tries.next(error()).unwrap().delay);
        assert!(Duration::from_millis(22_500) <= tries.next(error()).unwrap().delay);
    }

    #[test]
    fn tries_run_out() {
        let mut tries = Tries::new(1);
        let retry = tries.next(failed(Some(Duration::from_millis(3)))).unwrap();
        assert_eq!((retry.attempt, retry.max_attempts), (1, 2));
        assert_eq!(retry.delay, Duration::from_millis(3));
        let error = tries.next(failed(None)).unwrap_err();
        assert_eq!(error.message, "down; gave up after 2 tries");
        assert_eq!(Tries::new(0).next(failed(None)).unwrap_err().message, "down");
    }

    #[test]
    fn a_wait_that_is_too_long_is_told_instead() {
        let error = Tries::new(4).next(failed(Some(Duration::from_mins(10)))).unwrap_err();
        assert_eq!(
            error.message,
            "down; the provider asks for a wait of 600 s, and the limit is 120 s"
        );
    }

    #[test]
    fn all_waits_together_have_a_budget() {
        let mut tries = Tries::new(u32::MAX);
        let minute = Some(Duration::from_mins(1));
        let n_retries = (0..100).take_while(|_| tries.next(failed(minute)).is_ok()).count();
        assert_eq!(n_retries, 10);
    }
}
