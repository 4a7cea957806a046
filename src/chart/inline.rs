//! PNG pictures on a terminal: the protocols of kitty and iTerm2.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use csv_agent_types::limits::CHART_TTY_LINES_MAX;

/// Characters of Base64 in one sequence. Source: kitty, "Terminal graphics protocol", "Remote client".
const CHUNK_CHARS: usize = 4096;
/// Represents a part of a picture in a cell. Source: kitty, "Unicode placeholders".
const PLACEHOLDER: char = '\u{10eeee}';
/// The marks on a placeholder that number rows, from 0. Source: kitty, `rowcolumn-diacritics.txt`.
const ROW_MARKS: [char; CHART_TTY_LINES_MAX] = [
    '\u{305}', '\u{30d}', '\u{30e}', '\u{310}', '\u{312}', '\u{33d}', '\u{33e}', '\u{33f}',
    '\u{346}', '\u{34a}', '\u{34b}', '\u{34c}', '\u{350}', '\u{351}', '\u{352}', '\u{357}',
    '\u{35b}', '\u{363}', '\u{364}', '\u{365}',
];

/// Returns the sequences with which kitty shows a PNG over these columns and rows, without a reply.
///
/// The cursor moves to the line below.
pub(crate) fn kitty(png: &[u8], (columns, rows): (u16, u16)) -> String {
    chunks(png, &format!("a=T,f=100,q=2,c={columns},r={rows}")).concat() + "\n"
}

fn chunks(png: &[u8], control: &str) -> Vec<String> {
    let data = STANDARD.encode(png);
    let n_chunks = data.len().div_ceil(CHUNK_CHARS);
    let chunks = data.as_bytes().chunks(CHUNK_CHARS).enumerate().map(|(at, chunk)| {
        let more = u8::from(at + 1 < n_chunks);
        let control = if at == 0 { format!("{control},m={more}") } else { format!("q=2,m={more}") };
        format!("\x1b_G{control};{}\x1b\\", String::from_utf8_lossy(chunk))
    });
    chunks.collect()
}

/// Returns the sequences for a PNG in kitty inside a tmux that passes sequences through.
///
/// The picture bypasses tmux; its cells contain characters that tmux moves like any text, and that
/// kitty replaces with the picture.
pub(crate) fn kitty_in_tmux(png: &[u8], (columns, rows): (u16, u16)) -> String {
    // The colour of the characters identifies the picture. Another with the same number replaces it.
    let id = 1 + png.iter().fold(0_u32, |it, byte| it.wrapping_mul(31) + u32::from(*byte)) % 255;
    let control = format!("a=T,U=1,f=100,q=2,i={id},c={columns},r={rows}");
    let mut text: String = chunks(png, &control).iter().map(|it| through_tmux(it)).collect();
    for mark in ROW_MARKS.iter().take(usize::from(rows)) {
        let first = ROW_MARKS[0];
        // Writing to a string cannot fail. A placeholder without marks belongs to the right of the
        // previous one.
        let _ = write!(text, "\x1b[38;5;{id}m{PLACEHOLDER}{mark}{first}");
        text.extend((1..columns).map(|_| PLACEHOLDER));
        text.push_str("\x1b[0m\n");
    }
    text
}

/// Wraps a sequence for a tmux that passes it through. Source: tmux(1), `allow-passthrough`.
pub(crate) fn through_tmux(sequence: &str) -> String {
    format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b"))
}

/// Returns the sequence with which iTerm2 shows a PNG over these columns and rows. The cursor remains
/// after it. Source: iTerm2, "Inline Images Protocol".
pub(crate) fn iterm(png: &[u8], (columns, rows): (u16, u16)) -> String {
    format!(
        "\x1b]1337;File=inline=1;size={};width={columns};height={rows};preserveAspectRatio=1:{}\x07",
        png.len(),
        STANDARD.encode(png)
    )
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::{iterm, kitty, kitty_in_tmux, through_tmux};

    /// Returns what comes together of the sequences that a kitty would read.
    #[track_caller]
    fn received(text: &str) -> (String, Vec<u8>) {
        let parts: Vec<_> = text.split_inclusive("\x1b\\").collect();
        let (mut control, mut data) = (String::new(), String::new());
        for (at, part) in parts.iter().enumerate() {
            let part = part.strip_prefix("\x1b_G").unwrap().strip_suffix("\x1b\\").unwrap();
            let (keys, payload) = part.split_once(';').unwrap();
            assert!(payload.len() <= 4096 && (at + 1 == parts.len() || payload.len() % 4 == 0));
            let more = if at + 1 == parts.len() { "m=0" } else { "m=1" };
            assert!(keys.ends_with(more) && keys.contains("q=2"), "{keys}");
            if at == 0 {
                keys.clone_into(&mut control);
            }
            data += payload;
        }
        (control, STANDARD.decode(data).unwrap())
    }

    #[test]
    fn kitty_gets_the_picture_back_out_of_the_chunks() {
        let png: Vec<u8> = (0..10_000_u32).map(|it| it.to_le_bytes()[0]).collect();
        for n_bytes in [1, 3_072, 3_073, 10_000] {
            let text = kitty(&png[..n_bytes], (71, 20));
            let (control, found) = received(text.strip_suffix('\n').unwrap());
            assert_eq!(found, png[..n_bytes]);
            assert!(control.starts_with("a=T,f=100,q=2,c=71,r=20,"));
        }
    }

    #[test]
    fn tmux_gets_each_chunk_wrapped_and_cells_to_move() {
        let text = kitty_in_tmux(&[7; 5_000], (30, 8));
        let (sequences, cells) = text.rsplit_once("\x1b\\\x1b[38").unwrap();
        let passed: String = format!("{sequences}\x1b\\")
            .split_inclusive("\x1b\x1b\\\x1b\\")
            .map(|it| it.strip_prefix("\x1bPtmux;").unwrap().strip_suffix("\x1b\\").unwrap())
            .collect();
        assert_eq!(received(&passed.replace("\x1b\x1b", "\x1b")).1, [7; 5_000]);
        assert_eq!(cells.lines().count(), 8);
        assert!(cells.lines().all(|it| it.matches('\u{10eeee}').count() == 30));
    }

    #[test]
    fn iterm_gets_the_whole_picture_at_once() {
        let text = iterm(b"png", (40, 12));
        let head = "\x1b]1337;File=inline=1;size=3;width=40;height=12;preserveAspectRatio=1:";
        let data = text.strip_prefix(head).unwrap().strip_suffix('\x07').unwrap();
        assert_eq!(STANDARD.decode(data).unwrap(), b"png");
        assert!(through_tmux(&text).starts_with("\x1bPtmux;\x1b\x1b]1337;"));
    }
}
