//! The state of a provider that keeps files and runs code in containers, and its endpoints.
//!
//! Source: `OpenAI` API reference, "Files", "Containers" and "Container files"; what expired
//! containers answer was seen in reports.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::form::{self, Field};
use super::server::Captured;
use super::trouble::Endpoint;

const PURPOSES: [&str; 6] = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"];

/// Types of files that may come into a container, by the ends of their names.
const TYPES: [&str; 30] = [
    "c", "cs", "cpp", "csv", "doc", "docx", "html", "java", "json", "md", "pdf", "php", "pptx",
    "py", "rb", "tex", "txt", "css", "js", "sh", "ts", "jpeg", "jpg", "gif", "pkl", "png", "tar",
    "xlsx", "xml", "zip",
];

const TIERS: [&str; 4] = ["1g", "4g", "16g", "64g"];

/// Files that a container gets with its declaration.
const FILES_MAX: usize = 50;

/// Where the files of a container are.
const DIRECTORY: &str = "/mnt/data/";

/// Uploads and containers, gone ones too.
#[derive(Debug, Default)]
pub struct Hosted {
    pub uploads: Vec<Upload>,
    pub containers: Vec<Container>,
    n_ids: BTreeMap<&'static str, usize>,
}

/// A file of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    pub id: String,
    pub filename: String,
    pub purpose: String,
    pub content: Vec<u8>,
    /// Seconds after which it is gone.
    pub expires_after: Option<u64>,
    /// Whether it was deleted or has expired.
    pub is_gone: bool,
}

/// A container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    pub id: String,
    pub name: String,
    pub memory_limit: String,
    pub life: Life,
    pub files: Vec<ContainerFile>,
}

/// What became of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Running,
    /// It can be looked at; its files are gone.
    Expired,
    Deleted,
}

/// A file in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerFile {
    pub id: String,
    pub path: String,
    pub content: Vec<u8>,
    /// `user` or `assistant`.
    pub source: &'static str,
    /// The upload that it is a copy of.
    pub upload_id: Option<String>,
    pub is_deleted: bool,
}

/// What a request for a response wants of containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// None for a new one.
    container_id: Option<String>,
    memory_limit: String,
    upload_ids: Vec<String>,
}

/// The answer of an endpoint.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub content_type: &'static str,
    pub body: Vec<u8>,
}

/// A call of an endpoint: the ids in its path, and what is after the question mark.
#[derive(Debug, PartialEq, Eq)]
pub struct Call<'a> {
    pub endpoint: Endpoint,
    ids: Vec<&'a str>,
    query: &'a str,
}

/// Returns the usual error envelope.
pub fn envelope(message: &str, param: Option<&str>, code: Option<&str>) -> Value {
    let kind = "invalid_request_error";
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}

/// Returns what a request calls, when it is an endpoint for files or containers.
pub fn call(line: &str) -> Option<Call<'_>> {
    let mut words = line.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parts: Vec<&str> = path.strip_prefix("/v1/")?.split('/').collect();
    let (endpoint, ids) = match (method, &parts[..]) {
        ("POST", ["files"]) => (Endpoint::Upload, vec![]),
        ("GET", ["files", id]) => (Endpoint::ShowUpload, vec![*id]),
        ("DELETE", ["files", id]) => (Endpoint::DeleteUpload, vec![*id]),
        ("POST", ["containers"]) => (Endpoint::MakeContainer, vec![]),
        ("GET", ["containers", id]) => (Endpoint::ShowContainer, vec![*id]),
        ("DELETE", ["containers", id]) => (Endpoint::DeleteContainer, vec![*id]),
        ("GET", ["containers", id, "files"]) => (Endpoint::ListFiles, vec![*id]),
        ("POST", ["containers", id, "files"]) => (Endpoint::AddFile, vec![*id]),
        ("GET", ["containers", id, "files", file]) => (Endpoint::ShowFile, vec![*id, *file]),
        ("DELETE", ["containers", id, "files", file]) => (Endpoint::DeleteFile, vec![*id, *file]),
        ("GET", ["containers", id, "files", file, "content"]) => {
            (Endpoint::Content, vec![*id, *file])
        }
        _ => return None,
    };
    Some(Call { endpoint, ids, query })
}

impl Reply {
    /// Null is no body at all.
    fn json(status: u16, body: &Value) -> Reply {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        Reply { status, content_type: "application/json", body }
    }

    fn refuses(status: u16, message: &str, param: &str) -> Reply {
        Reply::json(status, &envelope(message, Some(param), None))
    }
}

impl Upload {
    fn json(&self) -> Value {
        json!({"id": self.id, "object": "file", "bytes": self.content.len(), "created_at": 1,
            "expires_at": self.expires_after.map(|it| 1 + it), "filename": self.filename,
            "purpose": self.purpose, "status": "processed"})
    }
}

impl Container {
    /// Returns the files that are there.
    pub fn there(&self) -> impl Iterator<Item = &ContainerFile> {
        self.files.iter().filter(|it| !it.is_deleted)
    }

    /// Returns the file that is called so, wherever it is.
    pub fn file(&self, name: &str) -> Option<&ContainerFile> {
        self.there().find(|it| last_part(&it.path) == name)
    }

    fn json(&self) -> Value {
        let status = if self.life == Life::Running { "running" } else { "expired" };
        json!({"id": self.id, "object": "container", "created_at": 1, "status": status,
            "expires_after": {"anchor": "last_active_at", "minutes": 20}, "last_active_at": 1,
            "memory_limit": self.memory_limit, "name": self.name})
    }

    fn file_json(&self, file: &ContainerFile) -> Value {
        json!({"id": file.id, "object": "container.file", "created_at": 1,
            "bytes": file.content.len(), "container_id": self.id, "path": file.path,
            "source": file.source})
    }
}

impl Hosted {
    /// Returns an id that was not given before.
    pub fn new_id(&mut self, prefix: &'static str) -> String {
        let count = self.n_ids.entry(prefix).or_default();
        *count += 1;
        format!("{prefix}{count}")
    }

    /// Returns what a call is about, as a test names it: a file, or else a container.
    pub fn subject(&self, call: &Call, request: &Captured) -> String {
        let id = call.ids.last().copied().unwrap_or_default();
        let filename = match call.endpoint {
            Endpoint::Upload => {
                let fields = fields(request).unwrap_or_default();
                fields.into_iter().find_map(|it| it.filename)
            }
            Endpoint::AddFile => {
                let upload = self.uploads.iter().find(|it| request.body["file_id"] == it.id);
                upload.map(|it| it.filename.clone())
            }
            Endpoint::ShowUpload | Endpoint::DeleteUpload => {
                self.uploads.iter().find(|it| it.id == id).map(|it| it.filename.clone())
            }
            _ => {
                let mut files = self.containers.iter().flat_map(|it| &it.files);
                files.find(|it| it.id == id).map(|it| last_part(&it.path).to_owned())
            }
        };
        filename.unwrap_or_else(|| id.to_owned())
    }

    /// Does what a call asks.
    pub fn answer(&mut self, call: &Call, request: &Captured) -> Reply {
        let bearer = request.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
        if bearer.is_none_or(str::is_empty) {
            let message = "You didn't provide an API key.";
            return Reply::json(401, &envelope(message, None, None));
        }
        let answer = match (call.endpoint, &call.ids[..]) {
            (Endpoint::Upload, _) => self.upload(request),
            (Endpoint::ShowUpload, [id]) => self.known(id).map(Upload::json),
            (Endpoint::DeleteUpload, [id]) => self.delete_upload(id),
            (Endpoint::MakeContainer, _) => self.make_container(&request.body),
            (Endpoint::ShowContainer, [id]) => self.container(id).map(|it| it.json()),
            (Endpoint::DeleteContainer, [id]) => self.delete_container(id),
            (Endpoint::ListFiles, [id]) => self.list(id, call.query),
            (Endpoint::AddFile, [id]) => self.add_file(id, request),
            (Endpoint::ShowFile, [id, file_id]) => self.show_file(id, file_id),
            (Endpoint::DeleteFile, [id, file_id]) => self.delete_file(id, file_id),
            (Endpoint::Content, [id, file_id]) => match self.file(id, file_id) {
                Ok(file) => {
                    let content_type = "application/octet-stream";
                    return Reply { status: 200, content_type, body: file.content.clone() };
                }
                Err(refusal) => Err(refusal),
            },
            (endpoint, ids) => unreachable!("{endpoint:?} of {ids:?}"),
        };
        answer.map_or_else(|refusal| refusal, |body| Reply::json(200, &body))
    }

    fn upload(&mut self, request: &Captured) -> Result<Value, Reply> {
        let refuse = |message: &str, param: &str| Reply::refuses(400, message, param);
        let fields = fields(request).ok_or_else(|| refuse("no form with a file", "file"))?;
        let (filename, content) = file_of(&fields)?;
        let missing = |it: &str| refuse(&format!("Missing required parameter: '{it}'."), it);
        let purpose = value(&fields, "purpose").ok_or_else(|| missing("purpose"))?;
        if !PURPOSES.contains(&purpose.as_str()) {
            return Err(refuse(&format!("'{purpose}' is not one of {PURPOSES:?}"), "purpose"));
        }
        let (anchor, seconds) = ("expires_after[anchor]", "expires_after[seconds]");
        let expires_after = match (value(&fields, anchor), value(&fields, seconds)) {
            (None, None) => None,
            (Some(_), None) => return Err(missing(seconds)),
            (None, Some(_)) => return Err(missing(anchor)),
            (Some(given), Some(text)) => {
                let found: Option<u64> = text.parse().ok();
                let Some(found) = found.filter(|it| (3600..=2_592_000).contains(it)) else {
                    let message = format!("Expected 3600 to 2592000 seconds, got {text}.");
                    return Err(refuse(&message, seconds));
                };
                if given != "created_at" {
                    return Err(refuse(&format!("Invalid value: '{given}'."), anchor));
                }
                Some(found)
            }
        };
        let upload = Upload {
            id: self.new_id("file-"),
            filename,
            purpose,
            content,
            expires_after,
            is_gone: false,
        };
        let body = upload.json();
        self.uploads.push(upload);
        Ok(body)
    }

    fn known(&self, id: &str) -> Result<&Upload, Reply> {
        let upload = self.uploads.iter().find(|it| it.id == id && !it.is_gone);
        let message = format!("No such File object: {id}");
        upload.ok_or_else(|| Reply::refuses(404, &message, "id"))
    }

    fn delete_upload(&mut self, id: &str) -> Result<Value, Reply> {
        self.known(id)?;
        self.uploads.iter_mut().filter(|it| it.id == id).for_each(|it| it.is_gone = true);
        Ok(json!({"id": id, "object": "file", "deleted": true}))
    }

    fn make_container(&mut self, body: &Value) -> Result<Value, Reply> {
        let Some(name) = body["name"].as_str() else {
            let message = "Missing required parameter: 'name'.";
            return Err(Reply::refuses(400, message, "name"));
        };
        let upload_ids = self.judge_files(&body["file_ids"]).map_err(|it| Reply::json(400, &it))?;
        let tier = judge_tier(&body["memory_limit"]).map_err(|it| Reply::json(400, &it))?;
        let container_id = self.add_container(name, tier);
        self.copy(&container_id, &upload_ids);
        self.container(&container_id).map(|it| it.json())
    }

    /// Returns a container that can at least be looked at.
    fn container(&mut self, id: &str) -> Result<&mut Container, Reply> {
        let mut containers = self.containers.iter_mut();
        let message = format!("Container with id '{id}' not found.");
        containers
            .find(|it| it.id == id && it.life != Life::Deleted)
            .ok_or_else(|| Reply::json(404, &envelope(&message, None, None)))
    }

    /// Returns a container that has its files.
    fn running(&mut self, id: &str) -> Result<&mut Container, Reply> {
        let container = self.container(id)?;
        if container.life == Life::Expired {
            return Err(Reply::json(400, &envelope("Container is expired.", None, None)));
        }
        Ok(container)
    }

    fn delete_container(&mut self, id: &str) -> Result<Value, Reply> {
        self.container(id)?.life = Life::Deleted;
        Ok(Value::Null)
    }

    /// Returns a page of the files of a container, the newest first unless asked otherwise.
    fn list(&mut self, id: &str, query: &str) -> Result<Value, Reply> {
        let container = self.running(id)?;
        let parameter = |name: &str| {
            let pairs = query.split('&').filter_map(|it| it.split_once('='));
            pairs.filter(|it| it.0 == name).map(|it| it.1).next()
        };
        let limit = parameter("limit").map_or(Some(20), |it| it.parse::<usize>().ok());
        let Some(limit) = limit.filter(|it| (1..=100).contains(it)) else {
            return Err(Reply::refuses(400, "Expected a limit of 1 to 100.", "limit"));
        };
        let mut files: Vec<&ContainerFile> = container.there().collect();
        match parameter("order") {
            None | Some("desc") => files.reverse(),
            Some("asc") => {}
            Some(other) => {
                return Err(Reply::refuses(400, &format!("Invalid value: '{other}'."), "order"));
            }
        }
        if let Some(after) = parameter("after") {
            let Some(index) = files.iter().position(|it| it.id == after) else {
                return Err(Reply::refuses(400, &format!("No such file: {after}"), "after"));
            };
            files.drain(..=index);
        }
        let has_more = limit < files.len();
        files.truncate(limit);
        let data: Vec<Value> = files.iter().map(|it| container.file_json(it)).collect();
        Ok(json!({
            "object": "list",
            "first_id": data.first().map(|it| &it["id"]),
            "last_id": data.last().map(|it| &it["id"]),
            "has_more": has_more,
            "data": data,
        }))
    }

    fn add_file(&mut self, id: &str, request: &Captured) -> Result<Value, Reply> {
        self.running(id)?;
        let file_id = if let Some(upload_id) = request.body["file_id"].as_str() {
            let Upload { filename, content, .. } = self.known(upload_id)?.clone();
            self.put(id, &filename, content, "user", Some(upload_id))
        } else {
            let refusal = || Reply::refuses(400, "neither a form nor a `file_id`", "file");
            let (filename, content) = file_of(&fields(request).ok_or_else(refusal)?)?;
            self.put(id, &filename, content, "user", None)
        };
        self.show_file(id, &file_id)
    }

    fn file(&mut self, id: &str, file_id: &str) -> Result<&mut ContainerFile, Reply> {
        let mut files = self.running(id)?.files.iter_mut();
        let message = format!("Container file with id '{file_id}' not found.");
        files
            .find(|it| it.id == file_id && !it.is_deleted)
            .ok_or_else(|| Reply::json(404, &envelope(&message, None, None)))
    }

    fn show_file(&mut self, id: &str, file_id: &str) -> Result<Value, Reply> {
        let file = self.file(id, file_id)?.clone();
        Ok(self.container(id)?.file_json(&file))
    }

    fn delete_file(&mut self, id: &str, file_id: &str) -> Result<Value, Reply> {
        self.file(id, file_id)?.is_deleted = true;
        Ok(Value::Null)
    }

    /// Returns what a request for a response wants of containers, if it wants something, or the
    /// error of one that cannot be answered. `last` is the container of an earlier response, where
    /// the server keeps the conversation.
    pub fn admit(&self, body: &Value, last: Option<&str>) -> Result<Option<Room>, Value> {
        let input = body["input"].as_array().into_iter().flatten();
        let echoed = input.filter(|it| it["type"] == "code_interpreter_call");
        let echoed = echoed.filter_map(|it| it["container_id"].as_str());
        let used: Vec<&str> = last.into_iter().chain(echoed).collect();
        for container_id in &used {
            if self.life_of(container_id) != Some(Life::Running) {
                let message = format!("Expected container_id: {container_id} to be active");
                return Err(envelope(&message, Some("input"), None));
            }
        }
        let mut tools = body["tools"].as_array().into_iter().flatten();
        let Some(tool) = tools.find(|it| it["type"] == "code_interpreter") else {
            if body["tool_choice"]["type"] == "code_interpreter" {
                let message = "Tool choice 'code_interpreter' not found in 'tools' parameter.";
                return Err(envelope(message, Some("tool_choice"), None));
            }
            return Ok(None);
        };
        let container = &tool["container"];
        if let Some(container_id) = container.as_str() {
            return match self.life_of(container_id) {
                Some(Life::Running) => Ok(Some(Room {
                    container_id: Some(container_id.to_owned()),
                    memory_limit: String::new(),
                    upload_ids: Vec::new(),
                })),
                Some(Life::Expired) => Err(envelope("Container is expired.", None, None)),
                Some(Life::Deleted) | None => {
                    let message = format!("Container with id '{container_id}' not found.");
                    Err(envelope(&message, None, None))
                }
            };
        }
        let param = Some("tools[0].container");
        if container.is_null() {
            let message = "Missing required parameter: 'tools[0].container'.";
            return Err(envelope(message, param, Some("missing_required_parameter")));
        }
        if container["type"] != "auto" {
            return Err(envelope("Invalid value for 'type'.", param, Some("invalid_value")));
        }
        Ok(Some(Room {
            container_id: used.last().map(|it| (*it).to_owned()),
            memory_limit: judge_tier(&container["memory_limit"])?.to_owned(),
            upload_ids: self.judge_files(&container["file_ids"])?,
        }))
    }

    /// Returns the container in which code runs, with all files that were asked for.
    pub fn enter(&mut self, room: &Room) -> String {
        let container_id = match &room.container_id {
            Some(container_id) => container_id.clone(),
            None => self.add_container("auto", &room.memory_limit),
        };
        self.copy(&container_id, &room.upload_ids);
        container_id
    }

    /// Puts a file into a container, in place of one with the same path, and returns its id.
    pub fn put(
        &mut self,
        container_id: &str,
        path: &str,
        content: Vec<u8>,
        source: &'static str,
        upload_id: Option<&str>,
    ) -> String {
        let is_whole = path.starts_with('/');
        let path = if is_whole { path.to_owned() } else { [DIRECTORY, path].concat() };
        let id = self.new_id("cfile_");
        let upload_id = upload_id.map(str::to_owned);
        let container = self.containers.iter_mut().find(|it| it.id == container_id).unwrap();
        container.files.iter_mut().filter(|it| it.path == path).for_each(|it| it.is_deleted = true);
        let is_deleted = false;
        let file = ContainerFile { id: id.clone(), path, content, source, upload_id, is_deleted };
        container.files.push(file);
        id
    }

    /// Lets the time pass after which a container that nobody used is gone.
    pub fn expire_containers(&mut self) {
        let running = self.containers.iter_mut().filter(|it| it.life == Life::Running);
        running.for_each(|it| it.life = Life::Expired);
    }

    /// Makes a container and returns its id.
    pub fn add_container(&mut self, name: &str, memory_limit: &str) -> String {
        let id = self.new_id("cntr_");
        self.containers.push(Container {
            id: id.clone(),
            name: name.to_owned(),
            memory_limit: memory_limit.to_owned(),
            life: Life::Running,
            files: Vec::new(),
        });
        id
    }

    /// Copies uploads into a container, unless they are there.
    fn copy(&mut self, container_id: &str, upload_ids: &[String]) {
        for upload_id in upload_ids {
            let container = self.containers.iter().find(|it| it.id == container_id).unwrap();
            if container.there().any(|it| it.upload_id.as_ref() == Some(upload_id)) {
                continue;
            }
            let upload = self.uploads.iter().find(|it| it.id == *upload_id).unwrap().clone();
            self.put(container_id, &upload.filename, upload.content, "user", Some(upload_id));
        }
    }

    fn life_of(&self, container_id: &str) -> Option<Life> {
        self.containers.iter().find(|it| it.id == container_id).map(|it| it.life)
    }

    fn judge_files(&self, file_ids: &Value) -> Result<Vec<String>, Value> {
        let param = Some("tools[0].container.file_ids");
        let file_ids = file_ids.as_array().map(Vec::as_slice).unwrap_or_default();
        if FILES_MAX < file_ids.len() {
            let n_files = file_ids.len();
            let message = format!("Expected at most {FILES_MAX} file ids, got {n_files}.");
            return Err(envelope(&message, param, Some("array_above_max_length")));
        }
        let judge = |it: &Value| {
            let id = it.as_str().unwrap_or_default();
            if self.known(id).is_err() {
                let message = format!("No such File object: {id}");
                return Err(envelope(&message, param, Some("file_not_found")));
            }
            Ok(id.to_owned())
        };
        file_ids.iter().map(judge).collect()
    }
}

/// Returns the memory tier that a container gets.
fn judge_tier(memory_limit: &Value) -> Result<&str, Value> {
    let tier = if memory_limit.is_null() { "1g" } else { memory_limit.as_str().unwrap_or("") };
    if TIERS.contains(&tier) {
        return Ok(tier);
    }
    let message = format!("Invalid value: {memory_limit}. Supported values are: {TIERS:?}");
    Err(envelope(&message, Some("tools[0].container.memory_limit"), Some("invalid_value")))
}

fn fields(request: &Captured) -> Option<Vec<Field>> {
    form::parse(request.header("content-type")?, &request.bytes)
}

fn value(fields: &[Field], name: &str) -> Option<String> {
    let field = fields.iter().find(|it| it.name == name && it.filename.is_none())?;
    String::from_utf8(field.content.clone()).ok()
}

/// Returns the name and the content of the one file of a form.
fn file_of(fields: &[Field]) -> Result<(String, Vec<u8>), Reply> {
    let refuse = |message: &str| Reply::refuses(400, message, "file");
    let field = fields.iter().find(|it| it.name == "file");
    let field = field.ok_or_else(|| refuse("Missing required parameter: 'file'."))?;
    let filename = field.filename.as_deref().filter(|it| !it.is_empty());
    let filename = filename.ok_or_else(|| refuse("the file has no name"))?;
    let end = filename.rsplit_once('.').map_or("", |it| it.1).to_ascii_lowercase();
    if !TYPES.contains(&end.as_str()) {
        return Err(refuse(&format!("Invalid extension {end}. Supported formats: {TYPES:?}")));
    }
    Ok((filename.to_owned(), field.content.clone()))
}

fn last_part(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |it| it.1)
}
