//! A server with the tools, resources and prompts that the conformance suite asks for, behind the door of
//! `interlock serve`. The suite's own descriptions say what each has to give; they are in its scenarios.
#![allow(deprecated, reason = "the suite asks for what older versions have as well")]

use std::time::Duration;

use interlock_server::http::{ServerAccess, bind, serve};
use interlock_store::keys::SecretKey;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CompleteRequestParams, CompleteResult,
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingMessageNotificationParam,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ServerCapabilities, ServerConfig, ServerRequest, SetLevelRequestParams, SubscribeRequestParams,
    Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::needs_input;

/// The name of the test below, which is the server.
pub(super) const TEST: &str = "conformance::fixture::the_fixture";
pub(super) const ASKED: &str = "INTERLOCK_MCP_FIXTURE";
pub(super) const LISTENS: &str = "the fixture listens on port ";
pub(super) const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// One pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// No sample at all.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const A_WHILE: Duration = Duration::from_millis(20);

#[test]
#[ignore = "it is the server that the tests of conformance start"]
fn the_fixture() {
    if std::env::var_os(ASKED).is_none() {
        return;
    }
    let token = SecretKey::parse(TOKEN).expect("a token");
    let listen = "127.0.0.1:0".parse().expect("an address");
    let bound = bind(ServerAccess { listen, hosts: Vec::new(), token }).expect("a port is free");
    println!("\n{LISTENS}{}", bound.address.port());
    serve(bound, || Fixture).expect("it is killed");
}

/// A result that needs nothing more.
fn complete<T: DeserializeOwned>(mut described: Json) -> T {
    described["resultType"] = json!("complete");
    as_is(described)
}

/// What the suite describes, as the type that it is.
pub(super) fn as_is<T: DeserializeOwned>(described: Json) -> T {
    serde_json::from_value(described).expect("the suite describes what the protocol has")
}

fn text(text: &str) -> Json {
    json!({ "type": "text", "text": text })
}

fn resource(uri: &str, kind: &str, text: &str) -> Json {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": kind, "text": text } })
}

fn picture() -> Json {
    json!({ "type": "image", "data": PICTURE, "mimeType": "image/png" })
}

#[allow(clippy::needless_pass_by_value, reason = "contents are written out where they are given")]
pub(super) fn gives(content: Json) -> CallToolResponse {
    complete::<CallToolResult>(json!({ "content": content })).into()
}

fn no_such(what: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no {what}"), None)
}

fn tools() -> Vec<Tool> {
    let nothing = json!({ "type": "object", "properties": {} });
    let takes =
        |name: &str| json!({ "type": "object", "properties": { name: { "type": "string" } }, "required": [name] });
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_logging_tool",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_reconnection",
    ];
    let plain = plain.into_iter().chain(needs_input::TOOLS).map(|name| (name, nothing.clone()));
    let others = [
        ("test_sampling", takes("prompt")),
        ("test_elicitation", takes("message")),
        ("json_schema_2020_12_tool", schema_with_everything()),
        (
            "test_custom_header",
            json!({
                "type": "object",
                "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
            }),
        ),
    ];
    let tool = |(name, schema)| as_is(json!({ "name": name, "description": "for the suite", "inputSchema": schema }));
    plain.chain(others).map(tool).collect()
}

fn schema_with_everything() -> Json {
    let place = json!({ "street": { "type": "string" }, "city": { "type": "string" } });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": place } },
        "properties": {
            "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" }, "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] }, "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

#[allow(clippy::needless_pass_by_value, reason = "forms are written out where they are shown")]
fn form(message: &str, properties: Json, required: &[&str]) -> Json {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

fn defaults() -> Json {
    form(
        "Every field has a value already",
        json!({
            "name": { "type": "string", "default": "John Doe" }, "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 }, "verified": { "type": "boolean", "default": true },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        }),
        &[],
    )
}

fn enums() -> Json {
    let titled = |what: &str| {
        json!([
            { "const": "value1", "title": format!("First {what}") }, { "const": "value2", "title": format!("Second {what}") },
            { "const": "value3", "title": format!("Third {what}") },
        ])
    };
    let untitled = json!(["option1", "option2", "option3"]);
    form(
        "Choose",
        json!({
            "untitledSingle": { "type": "string", "enum": untitled },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": untitled } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        }),
        &[],
    )
}

#[derive(Clone)]
struct Fixture;

impl Fixture {
    /// Asks the client, in the middle of a call, as it was done before 2026-07-28.
    async fn ask(&self, request: Json, context: &RequestContext<RoleServer>) -> Result<Json, ErrorData> {
        let answer = context.peer.send_request(as_is::<ServerRequest>(request)).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(serde_json::to_value(answer).expect("an answer is JSON"))
    }

    async fn fills(&self, form: Json, context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let filled = self.ask(form, context).await?;
        let said = format!("Elicitation completed: action={}, content={}", filled["action"], filled["content"]);
        Ok(gives(json!([text(&said)])))
    }

    async fn log(&self, context: &RequestContext<RoleServer>) -> CallToolResponse {
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            let line: LoggingMessageNotificationParam = as_is(json!({ "level": "info", "data": line }));
            let _ = context.peer.notify_logging_message(line).await;
            tokio::time::sleep(A_WHILE).await;
        }
        gives(json!([text("It has said what it does")]))
    }

    async fn progress(&self, context: &RequestContext<RoleServer>) -> CallToolResponse {
        for done in [0, 50, 100] {
            if let Some(token) = context.meta.get_progress_token() {
                let progress = json!({ "progressToken": token, "progress": done, "total": 100 });
                let _ = context.peer.notify_progress(as_is::<ProgressNotificationParam>(progress)).await;
            }
            tokio::time::sleep(A_WHILE).await;
        }
        gives(json!([text("It has said how far it is")]))
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("fixture", "1"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let argument =
            |name: &str| request.arguments.as_ref().and_then(|all| all.get(name)).cloned().unwrap_or_default();
        let prompt = json!({ "role": "user", "content": { "type": "text", "text": argument("prompt") } });
        Ok(match request.name.as_ref() {
            "test_simple_text" => gives(json!([text("This is a simple text response for testing.")])),
            "test_image_content" => gives(json!([picture()])),
            "test_audio_content" => gives(json!([{ "type": "audio", "data": SOUND, "mimeType": "audio/wav" }])),
            "test_embedded_resource" => {
                let content = "This is an embedded resource content.";
                gives(json!([resource("test://embedded-resource", "text/plain", content)]))
            }
            "test_multiple_content_types" => {
                let data = json!({ "test": "data", "value": 123 }).to_string();
                let mixed = resource("test://mixed-content-resource", "application/json", &data);
                gives(json!([text("Multiple content types test:"), picture(), mixed]))
            }
            "test_error_handling" => {
                let content = json!([text("This tool intentionally returns an error for testing")]);
                complete::<CallToolResult>(json!({ "content": content, "isError": true })).into()
            }
            "test_tool_with_logging" => self.log(&context).await,
            "test_tool_with_progress" => self.progress(&context).await,
            "test_logging_tool" | "test_custom_header" | "json_schema_2020_12_tool" => gives(json!([text("Done")])),
            "test_reconnection" => {
                tokio::time::sleep(A_WHILE).await;
                gives(json!([text("Done")]))
            }
            "test_sampling" => {
                let params = json!({ "messages": [prompt], "maxTokens": 100 });
                let said = self.ask(json!({ "method": "sampling/createMessage", "params": params }), &context).await?;
                gives(json!([text(&format!("LLM response: {}", said["content"]["text"].as_str().unwrap_or_default()))]))
            }
            "test_elicitation" => {
                let word = json!({ "type": "string" });
                let message = argument("message");
                let fields = json!({ "username": word, "email": word });
                let asked = form(message.as_str().unwrap_or_default(), fields, &["username", "email"]);
                self.fills(asked, &context).await?
            }
            "test_elicitation_sep1034_defaults" => self.fills(defaults(), &context).await?,
            "test_elicitation_sep1330_enums" => self.fills(enums(), &context).await?,
            "test_missing_capability" => {
                let needed: ClientCapabilities = as_is(json!({ "sampling": {} }));
                return Err(ErrorData::missing_required_client_capability(needed));
            }
            name => return needs_input::call(name, &request, &context).unwrap_or_else(|| Err(no_such(name))),
        })
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(as_is(json!([
            { "uri": "test://static-text", "name": "static-text", "mimeType": "text/plain" },
            { "uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png" },
        ]))))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let all =
            json!([{ "uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json" }]);
        Ok(ListResourceTemplatesResult::with_all_items(as_is(all)))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri.as_str(), id) {
            (_, Some(id)) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
            }
            ("test://static-text", _) => {
                let content = "This is the content of the static text resource.";
                json!({ "uri": uri, "mimeType": "text/plain", "text": content })
            }
            ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PICTURE }),
            _ => return Err(ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })))),
        };
        Ok(complete::<ReadResourceResult>(json!({ "contents": [content] })).into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(complete(json!({ "completion": { "values": ["one", "two"], "total": 2, "hasMore": false } })))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let takes =
            |names: &[&str]| names.iter().map(|name| json!({ "name": name, "required": true })).collect::<Vec<_>>();
        let prompts = [
            ("test_simple_prompt", takes(&[])),
            ("test_prompt_with_arguments", takes(&["arg1", "arg2"])),
            ("test_prompt_with_embedded_resource", takes(&["resourceUri"])),
            ("test_prompt_with_image", takes(&[])),
            (needs_input::PROMPT, takes(&[])),
        ];
        let prompt = |(name, takes)| as_is(json!({ "name": name, "description": "for the suite", "arguments": takes }));
        Ok(ListPromptsResult::with_all_items(prompts.map(prompt).into()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let argument = |name: &str| {
            let given = request.arguments.as_ref().and_then(|all| all.get(name)).and_then(Json::as_str);
            given.unwrap_or_default().to_owned()
        };
        let content = match request.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                let (one, two) = (argument("arg1"), argument("arg2"));
                vec![text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                let embedded =
                    resource(&argument("resourceUri"), "text/plain", "Embedded resource content for testing.");
                vec![embedded, text("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => vec![picture(), text("Please analyze the image above.")],
            needs_input::PROMPT => match needs_input::prompt(&request) {
                Ok(context) => vec![text(&format!("With the context {context}"))],
                Err(wanted) => return Ok((*wanted).into()),
            },
            name => return Err(no_such(name)),
        };
        let said = |content| json!({ "role": "user", "content": content });
        let messages: Vec<Json> = content.into_iter().map(said).collect();
        Ok(complete::<GetPromptResult>(json!({ "messages": messages })).into())
    }
}
