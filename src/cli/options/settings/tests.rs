//! Tests of the settings: the precedence of sources, and that each setting is read from all its sources.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use csv_agent_provider::models::{self, DEFAULT_MODEL};
use csv_agent_types::conversation::Price;
use csv_agent_types::status::{Failure, FailureKind};

use super::{
    BASE_URL_OF_MODEL, Flags, MAX_ROUNDS, MODEL, SETTINGS, Settings, Show, TIMEOUT, ValueOrigin,
    WHOLE_FILE, without_password,
};
use crate::environment::Environment;
use crate::flags::{GlobalFlags, SettingFlags};
use crate::options::config::document::{self, KnownSettings};
use crate::options::config::{ConfigFile, ConfigFiles, ConfigLevel, prices};
use crate::options::key::KeySource;

#[derive(Parser)]
#[command(args_override_self = true)]
struct Line {
    #[command(flatten)]
    global: GlobalFlags,
    #[command(flatten)]
    settings: SettingFlags,
}

fn file(place: ConfigLevel, text: &str) -> ConfigFile {
    let names: Vec<&str> = SETTINGS.iter().map(|it| it.key()).collect();
    let known = KnownSettings { settings: &names, whole_file: WHOLE_FILE, prices: prices::NAMES };
    let document = document::parse(text, known);
    let path = PathBuf::from(format!("/{}.toml", place.name()));
    ConfigFile { place, path, document: document.unwrap() }
}

/// Sources by precedence: arguments, variables, files.
fn look<T>(
    arguments: &str,
    variables: &[(&str, &str)],
    files: &[(ConfigLevel, &str)],
    what: impl Fn(&Settings) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let line = Line::parse_from(std::iter::once("x").chain(arguments.split_whitespace()));
    let environment = Environment::of(variables).unwrap();
    let files = files.iter().map(|(place, text)| file(*place, text)).collect();
    let files = ConfigFiles { files, warnings: Vec::new() };
    let flags = Flags { global: &line.global, settings: &line.settings };
    what(&Settings::check(flags, &environment, &files)?)
}

#[track_caller]
fn check_model(
    arguments: &str,
    variables: &[(&str, &str)],
    files: &[(ConfigLevel, &str)],
    expected: (&str, &str),
) {
    let found = look(arguments, variables, files, |it| it.choose(&MODEL)).unwrap();
    assert_eq!((found.value.unwrap().as_str(), found.origin.to_string().as_str()), expected);
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_files() {
    let variable = [("CSV_AGENT_MODEL", "variable")];
    let files = [
        (ConfigLevel::Session, "model = 'session'"),
        (ConfigLevel::Project, "\nmodel = 'project'"),
        (ConfigLevel::User, "model = 'user'"),
    ];
    check_model("-m flag", &variable, &files, ("flag", "flag --model"));
    let told = ("variable", "environment variable CSV_AGENT_MODEL");
    check_model("", &variable, &files, told);
    check_model("", &[], &files, ("session", "session file /session.toml:1"));
    check_model("", &[], &files[1..], ("project", "project file /project.toml:2"));
    check_model("", &[], &files[2..], ("user", "user file /user.toml:1"));
    check_model("", &[], &[], (DEFAULT_MODEL, "default"));
}

#[test]
fn a_profile_goes_before_the_files_and_one_that_a_flag_names_before_the_environment() {
    let variable = [("CSV_AGENT_MODEL", "variable")];
    let user = "model = 'user'\n[profiles.a]\nmodel = 'a'";
    let files = [(ConfigLevel::Project, "model = 'project'"), (ConfigLevel::User, user)];
    let told = ("a", "profile in the user file /user.toml:3");
    check_model("--profile a", &variable, &files, told);
    check_model("--profile a -m flag", &variable, &files, ("flag", "flag --model"));
    let by_variable = [("CSV_AGENT_PROFILE", "a")];
    check_model("", &by_variable, &files, told);
    let both = [variable[0], by_variable[0]];
    check_model("", &both, &files, ("variable", "environment variable CSV_AGENT_MODEL"));
    let chosen = [(ConfigLevel::User, "profile = 'a'\n[profiles.a]\nmodel = 'a'")];
    check_model("", &[], &chosen, told);
}

#[test]
fn the_profile_local_needs_no_file() {
    let variables = [("OPENAI_BASE_URL", "https://example.com/v1")];
    let found = look("--profile local", &variables, &[], |it| it.choose(&BASE_URL_OF_MODEL));
    let found = found.unwrap();
    assert_eq!(found.value.as_deref(), Some("http://127.0.0.1:11434/v1"));
    assert_eq!(found.origin.to_string(), "built-in profile local");
    let own = [(ConfigLevel::User, "[profiles.local]\nbase_url = 'http://127.0.0.1:8080/v1'")];
    let found = look("--profile local", &[], &own, |it| it.choose(&BASE_URL_OF_MODEL)).unwrap();
    assert_eq!(found.value.as_deref(), Some("http://127.0.0.1:8080/v1"));
}

#[track_caller]
fn check_key(arguments: &str, variables: &[(&str, &str)], user: &str, expected: (&str, &str)) {
    let files = [(ConfigLevel::User, user)];
    let (source, origin) = look(arguments, variables, &files, KeySource::choose).unwrap();
    assert_eq!((format!("{source:?}").as_str(), origin.to_string().as_str()), expected);
}

#[test]
fn each_vendor_is_sent_its_own_key() {
    let (openai, anthropic) = (("OPENAI_API_KEY", "sk-1"), ("ANTHROPIC_API_KEY", "sk-2"));
    let at_openai = ("OPENAI_API_KEY = ***", "environment variable OPENAI_API_KEY");
    let at_anthropic = ("ANTHROPIC_API_KEY = ***", "environment variable ANTHROPIC_API_KEY");
    let host = "--base-url https://api.anthropic.com";
    check_key("", &[openai, anthropic], "", at_openai);
    check_key("", &[anthropic], "", ("no key", "default"));
    check_key(host, &[openai, anthropic], "", at_anthropic);
    check_key(host, &[openai], "", ("no key", "default"));
    let elsewhere = "--api messages --base-url http://127.0.0.1:1/v1";
    check_key(elsewhere, &[openai, anthropic], "", at_anthropic);
    check_key(elsewhere, &[openai], "", at_openai);
    let file = ("file /k", "profile in the user file /user.toml:3");
    let profile =
        "[profiles.claude]\nbase_url = 'https://api.anthropic.com/v1'\napi_key_file = '/k'";
    check_key("--profile claude", &[openai, anthropic], profile, file);
}

#[test]
fn the_profile_local_is_sent_no_key_but_its_own() {
    let key = ("OPENAI_API_KEY", "sk-1");
    let none = ("no key", "built-in profile local");
    check_key("--profile local", &[key], "api_key_file = '/k'", none);
    let url = "[profiles.local]\nbase_url = 'http://127.0.0.1:1234/v1'";
    let none = ("no key", "profile in the user file /user.toml:2");
    check_key("--profile local", &[key], url, none);
    let by_variable = [key, ("CSV_AGENT_PROFILE", "local"), ("CSV_AGENT_API_KEY_FILE", "/v")];
    check_key("", &by_variable, url, none);
    let own = format!("{url}\napi_key_file = '/k'");
    let told = ("file /k", "profile in the user file /user.toml:3");
    check_key("--profile local", &[key], &own, told);
    check_key("", &by_variable[..2], &own, told);
    // Naming another server selects that one.
    let other = "--profile local --base-url http://127.0.0.1:1/v1";
    let variable = ("OPENAI_API_KEY = ***", "environment variable OPENAI_API_KEY");
    check_key(other, &[key], url, variable);
}

#[test]
fn the_key_of_a_profile_goes_with_its_server_before_the_variable_with_the_key() {
    let url = "profile = 'a'\n[profiles.a]\nbase_url = 'https://a.example/v1'\n";
    let key = ("OPENAI_API_KEY", "sk-1");
    let variable = ("OPENAI_API_KEY = ***", "environment variable OPENAI_API_KEY");
    let own = format!("{url}api_key_cmd = ['pass', 'a']");
    let told = ("command Some(\"pass\")", "profile in the user file /user.toml:4");
    check_key("", &[key], &own, told);
    check_key("", &[key], url, variable);
    // Another server, or no server at all: then the two are not a pair.
    check_key("", &[key, ("OPENAI_BASE_URL", "https://b.example/v1")], &own, variable);
    check_key("", &[key], "profile = 'a'\n[profiles.a]\napi_key_file = '/k'", variable);
    let file = ("CSV_AGENT_API_KEY_FILE", "/v");
    let named = ("file /v", "environment variable CSV_AGENT_API_KEY_FILE");
    check_key("", &[key, file], &own, named);
}

#[track_caller]
fn check_fails(arguments: &str, text: &str, kind: FailureKind, message: &str, hint: &str) {
    let error = look(arguments, &[], &[(ConfigLevel::User, text)], |_| Ok(())).unwrap_err();
    let failure = error.downcast_ref::<Failure>().unwrap();
    assert_eq!((failure.kind, failure.message.as_str()), (kind, message));
    assert_eq!(failure.hint.as_deref(), Some(hint));
}

#[test]
fn a_profile_must_exist() {
    let hint = "did you mean `local`?";
    check_fails("--profile loca", "", FailureKind::Usage, "no profile `loca`", hint);
    let hint = "the profiles are `local`, `work`; see `csv-agent help config`";
    let text = "profile = 'x'\n[profiles.work]";
    check_fails("", text, FailureKind::Setup, "no profile `x`", hint);
}

#[test]
fn a_value_is_read_as_the_flag_is_and_checked_even_when_the_flag_is_given() {
    let found = look("", &[], &[(ConfigLevel::User, "max_rounds = 7\ntimeout = '5m'")], |it| {
        Ok((it.get(&MAX_ROUNDS)?, it.choose(&TIMEOUT)?.value))
    });
    assert_eq!(found.unwrap(), (7, Some(Duration::from_mins(5))));
    let see = "see `csv-agent help config`";
    for (text, message) in [
        ("max_rounds = 0", "`max_rounds`: write a whole number from 1 to 1000"),
        ("max_rounds = '7'", "`max_rounds`: write a whole number, not a string"),
        ("timeout = 5", "`timeout`: write a string in quotes, not a whole number"),
        ("timeout = '5'", "`timeout`: `5` has no unit; did you mean `5s`?"),
        ("max_cost = 0", "`max_cost`: write an amount in USD above 0, such as `0.50`"),
        ("[prices.m]\ninput = -1", "`input`: write USD for a million tokens, such as 1.25"),
        ("[prices.m]\ninput = 1", "`prices.m`: `output` is missing (in USD for a million tokens)"),
        ("stream = 1", "`stream`: write true or false, not a whole number"),
        ("reasoning = 'hard'", "`reasoning`: `hard` is not one of low, medium, high"),
        ("model = ' '", "`model`: it is empty"),
        (
            "model = 'sk-abcdefghijkl'\nformat = 'sk-abcdefghijkl'",
            "`format`: `sk-***` is not one of \
            text, reply, json, jsonl, csv, tsv, md",
        ),
    ] {
        let line = text.lines().count();
        let message = format!("/user.toml:{line}: {message}");
        check_fails("--max-rounds 5", text, FailureKind::Setup, &message, see);
    }
}

#[test]
fn a_price_is_of_a_model_and_cached_input_costs_as_much_unless_it_says_otherwise() {
    let session = "[prices.\"gpt-5.1\"]\ninput = 1.25\noutput = 10\ncached_input = 0.125";
    let files = [
        (ConfigLevel::Session, session),
        (ConfigLevel::User, "[prices]\nm = {input = 1, output = 2.5}"),
    ];
    let price = |model: &str| look("", &[], &files, |it| prices::price_of(model, it)).unwrap();
    let expected = Price { input: 1.25, cached_input: 0.125, output: 10.0 };
    assert_eq!(price("gpt-5.1"), Some(expected));
    assert_eq!(price("m"), Some(Price { input: 1.0, cached_input: 1.0, output: 2.5 }));
    assert_eq!(price("other"), None);
}

#[test]
fn the_list_price_holds_where_no_file_has_one_and_the_vendor_is_asked() {
    let price =
        |flags: &str| look(flags, &[], &[], |it| prices::price_of(DEFAULT_MODEL, it)).unwrap();
    assert_eq!(price(""), models::known(DEFAULT_MODEL).map(|it| it.price));
    assert_eq!(price("--base-url https://openrouter.ai/api/v1"), None);
}

#[test]
fn what_is_told_has_no_secret() {
    assert_eq!("sk-abcdefghijkl".to_owned().show(), "sk-***");
    assert_eq!(without_password("https://me:pass@host/v1"), "https://***@host/v1");
    assert_eq!(without_password("https://host/v1?a=b@c"), "https://host/v1?a=b@c");
}

#[test]
fn every_setting_has_a_name_of_its_own_that_a_file_may_use() {
    let mut keys: Vec<_> = SETTINGS.iter().map(|it| it.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), SETTINGS.len());
    assert!(WHOLE_FILE.iter().all(|it| keys.contains(it)));
}

#[test]
fn sources_are_in_order() {
    let path = || PathBuf::from("/x");
    let order = [
        ValueOrigin::Flag("--x"),
        ValueOrigin::NamedProfile(Box::new(ValueOrigin::Profile(ConfigLevel::User, path(), 1))),
        ValueOrigin::NamedProfile(Box::new(ValueOrigin::BuiltIn("local"))),
        ValueOrigin::Variable("X"),
        ValueOrigin::Profile(ConfigLevel::Session, path(), 9),
        ValueOrigin::BuiltIn("local"),
        ValueOrigin::File(ConfigLevel::Session, path(), 9),
        ValueOrigin::File(ConfigLevel::Project, path(), 1),
        ValueOrigin::File(ConfigLevel::User, path(), 1),
        ValueOrigin::Default,
    ];
    assert!(order.is_sorted());
}
