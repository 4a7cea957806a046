//! How questions may be read: a line of JSON each, `{"instructions": …, "items": [ … ]}` in, readings out.

use std::io::{BufRead, stdin};

use csv_agent_types::conversation::Item;
use serde_json::Value;

fn main() {
    for line in stdin().lock().lines().map_while(Result::ok) {
        let asked: Value = serde_json::from_str(&line).unwrap_or_default();
        let items: Vec<Item> = serde_json::from_value(asked["items"].clone()).unwrap_or_default();
        let instructions = asked["instructions"].as_str().unwrap_or_default();
        println!(
            "{}",
            csv_agent_analyst::readings(instructions, &items, asked["verdict"] == true, 20)
        );
    }
}
