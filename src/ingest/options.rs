//! What the user said about a file; everything else is found out.
