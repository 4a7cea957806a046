//! Images that go with a question.

use std::fs;

use serde_json::json;

use super::{ask, last_request};
use crate::bench::{Bench, round};

/// The smallest PNG: one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDAT\x08\xd7c\xf8\x0f\0\x01\x01\x01\0\x1b\xb6\xeeV\0\0\0\0IEND\xaeB`\x82";

#[test]
fn an_image_goes_with_its_question_and_stays_in_the_conversation() {
    let bench = Bench::with(["sales.csv"]).script([round().says("A dot.")]);
    fs::write(bench.path("dot.dat"), PNG).unwrap();
    ask(&bench, ["--image", "dot.dat"], "What is this?", 0);
    let message = last_request(&bench).input()[0].clone();
    assert_eq!(message["content"][0], json!({"type": "input_text", "text": "What is this?"}));
    let image = &message["content"][1];
    assert_eq!(image["type"], "input_image");
    assert!(image["image_url"].as_str().unwrap().starts_with("data:image/png;base64,iVBORw0KGgo"));
    bench.answers([round().says("Black.")]);
    ask(&bench, [], "Its colour?", 0);
    assert_eq!(last_request(&bench).input()[0], message);
}

#[test]
fn a_model_without_eyes_is_asked_without_the_images_of_earlier_questions() {
    let blind = || round().errs(400, "invalid_request_error", "", "No image input here.");
    let bench = Bench::with(["sales.csv"]).script([round().says("A dot.")]);
    fs::write(bench.path("dot.png"), PNG).unwrap();
    ask(&bench, ["--image", "dot.png"], "What is this?", 0);
    bench.answers([blind(), round().says("Black.")]);
    let turn = ask(&bench, [], "Its colour?", 0);
    assert_eq!(turn.phases("warning")[0]["code"], "images_dropped");
    let first = last_request(&bench).input()[0].clone();
    assert_eq!(first["content"][1]["text"], "(an image that is no longer shown)");
    bench.answers([blind(), blind()]);
    let turn = ask(&bench, ["--image", "dot.png"], "And this?", 6);
    let hint = "check the image, or choose a model that reads images with `--model`";
    assert_eq!(turn.end()["hint"], hint);
}

#[test]
fn what_is_no_image_is_refused_by_name_before_anything_is_sent() {
    let bench = Bench::with(["sales.csv"]);
    let run = bench.ask_with(["--image", "sales.csv"], "What?").fails_with(5);
    let told = "`sales.csv` is not a PNG, JPEG, GIF or WebP image";
    assert!(run.stderr().contains(told), "{}", run.stderr());
    bench.ask_with(["--image", "none.png"], "What?").fails_with(5);
    assert_eq!(bench.n_requests(), 0);
}
