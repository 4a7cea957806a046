//! The files of a dataset before they have their names.
