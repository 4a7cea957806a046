//! Frames between the worker and the relay.
