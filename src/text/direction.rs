//! Letters that are written from the right, among those that are written from the left.

/// What is between these has no say in the order of what is around it. Source: Unicode, UAX #9, "first
/// strong isolate" and "pop directional isolate".
pub const ISOLATE: char = '\u{2068}';
/// The end of it.
pub const ISOLATE_END: char = '\u{2069}';

/// Returns a text that cannot change the order of its neighbours: one with letters that are written
/// from the right is isolated, or a terminal that knows about directions swaps columns.
pub fn isolated(text: &str) -> String {
    if is_from_right(text) { format!("{ISOLATE}{text}{ISOLATE_END}") } else { text.to_owned() }
}

/// Returns whether a text has letters that are written from the right.
pub fn is_from_right(text: &str) -> bool {
    text.contains(|it| {
        matches!(it, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
            | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
    })
}
