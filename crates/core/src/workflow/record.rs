//! Declares the document's types once: the struct, its decoder and its JSON Schema.
//!
//! For workflow files, and for other files of the program that people write.
//!
//! serde stops at the first mistake and forgets places; a workflow file should show
//! all of its mistakes at once, each underlined.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json, json};

use crate::code::Code;
use crate::id::Name;
use crate::problem::{Place, Problem};
use crate::suggest;
use crate::yaml::{Node, Value};

pub type Problems = Vec<Problem>;

/// Something that can be read from a node of the document and described as a schema.
pub trait Decode: Sized {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self>;

    /// The value of a key that is not there; `None` makes the key required.
    fn absent() -> Option<Self> {
        None
    }

    fn schema(schemas: &mut Schemas) -> Json;

    /// How it is written, for the help of an error.
    fn sample() -> String {
        "…".to_owned()
    }
}

/// Named schemas, collected while the types are walked.
#[derive(Default)]
pub struct Schemas(pub BTreeMap<&'static str, Json>);

impl Schemas {
    pub fn named(&mut self, name: &'static str, make: impl FnOnce(&mut Self) -> Json) -> Json {
        if !self.0.contains_key(name) {
            self.0.insert(name, Json::Null);
            let schema = make(self);
            self.0.insert(name, schema);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }
}

/// A value with the place it was written at.
#[derive(Clone, Debug)]
pub struct PlacedValue<T> {
    pub value: T,
    pub place: Place,
}

impl<T: Decode> Decode for PlacedValue<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::decode(node, problems).map(|value| PlacedValue { value, place: node.place.clone() })
    }

    fn schema(schemas: &mut Schemas) -> Json {
        T::schema(schemas)
    }

    fn sample() -> String {
        T::sample()
    }
}

/// Something else belongs here. The help shows one that does.
pub fn wrong_type(node: &Node, wanted: &str, sample: &str, problems: &mut Problems) {
    let message = format!("{wanted} belongs here, not {}", node.kind());
    let help = format!("write it such as `{sample}`");
    problems.push(Problem::new(Code::WrongType, message).help(help).at(node.place.clone()));
}

impl Decode for Name {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.scalar() {
            Some(text) if !text.trim().is_empty() => Some(Name::from(text)),
            Some(_) | None => {
                wrong_type(node, "a name", &Self::sample(), problems);
                None
            }
        }
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": ["string", "number", "boolean"] })
    }

    fn sample() -> String {
        "NAME".to_owned()
    }
}

impl Decode for String {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        node.text().map(str::to_owned).or_else(|| {
            wrong_type(node, "text", &Self::sample(), problems);
            None
        })
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "string" })
    }

    fn sample() -> String {
        "a few words".to_owned()
    }
}

impl Decode for u32 {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        node.text().and_then(|text| text.parse().ok()).or_else(|| {
            wrong_type(node, "a whole number from 0 to 4294967295", &Self::sample(), problems);
            None
        })
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX })
    }

    fn sample() -> String {
        "5".to_owned()
    }
}

impl Decode for bool {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.text() {
            Some("true") => Some(true),
            Some("false") => Some(false),
            Some(_) | None => {
                wrong_type(node, "true or false", &Self::sample(), problems);
                None
            }
        }
    }

    fn absent() -> Option<Self> {
        Some(false)
    }

    fn schema(_: &mut Schemas) -> Json {
        json!({ "type": "boolean" })
    }

    fn sample() -> String {
        "true".to_owned()
    }
}

/// An unreadable value is reported and then treated as absent, so that the rest of its record is not lost with it.
impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        Some(T::decode(node, problems))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn schema(schemas: &mut Schemas) -> Json {
        T::schema(schemas)
    }

    fn sample() -> String {
        T::sample()
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::decode(node, problems).map(Box::new)
    }

    fn schema(schemas: &mut Schemas) -> Json {
        T::schema(schemas)
    }

    fn sample() -> String {
        T::sample()
    }
}

/// A list; a single entry stands for a list of one.
impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.value {
            Value::List(items) => Some(items.iter().filter_map(|item| T::decode(item, problems)).collect()),
            Value::Null => {
                wrong_type(node, "a list", &Self::sample(), problems);
                None
            }
            Value::Scalar(_) | Value::Map(_) => T::decode(node, problems).map(|one| vec![one]),
        }
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }

    fn schema(schemas: &mut Schemas) -> Json {
        let one = T::schema(schemas);
        json!({ "anyOf": [one.clone(), { "type": "array", "items": one }] })
    }

    fn sample() -> String {
        format!("[{}]", T::sample())
    }
}

/// A map of free names. It has no order of its own: it is kept by name.
#[derive(Clone, Debug)]
pub struct NameTable<T> {
    entries: BTreeMap<Name, (Place, T)>,
    /// Entries that are written and have a mistake: what names them is not at fault, nor is what they lack.
    unread: BTreeSet<Name>,
}

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), unread: BTreeSet::new() }
    }
}

impl<T> NameTable<T> {
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Place, &T)> {
        self.entries.iter().map(|(name, (place, value))| (name, place, value))
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        self.entries.get(name).map(|(_, value)| value)
    }

    pub fn keys(&self) -> impl Iterator<Item = &Name> + Clone {
        self.entries.keys()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    pub fn is_unread(&self, name: &str) -> bool {
        self.unread.contains(name)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T: Decode> Decode for NameTable<T> {
    fn decode(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Value::Map(entries) = &node.value else {
            wrong_type(node, "a map", &Self::sample(), problems);
            return None;
        };
        let mut table = Self::default();
        for (key, value) in entries {
            let Some(name) = Name::decode(key, problems) else { continue };
            if value.is_null() {
                continue;
            }
            let before = problems.len();
            let read = T::decode(value, problems);
            if problems.len() > before {
                table.unread.insert(name.clone());
            }
            if let Some(value) = read {
                table.entries.insert(name, (key.place.clone(), value));
            }
        }
        Some(table)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema(schemas: &mut Schemas) -> Json {
        let value = T::schema(schemas);
        json!({ "type": "object", "additionalProperties": { "anyOf": [value, { "type": "null" }] } })
    }

    fn sample() -> String {
        format!("{{ NAME: {} }}", T::sample())
    }
}

/// One known key of a record, for the schema and for "did you mean".
pub struct KeySchema {
    pub key: &'static str,
    pub about: &'static str,
    pub required: bool,
    pub schema: Json,
}

pub fn record_schema(about: &str, keys: Vec<KeySchema>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in keys {
        let mut schema = key.schema;
        if let Some(object) = schema.as_object_mut() {
            object.insert("description".to_owned(), Json::String(key.about.trim().to_owned()));
        }
        if key.required {
            required.push(Json::String(key.key.to_owned()));
        }
        properties.insert(key.key.to_owned(), schema);
    }
    json!({
        "description": about.trim(), "type": "object", "additionalProperties": false,
        "required": required, "properties": properties
    })
}

/// Keys of a record that were written and could not be read.
#[derive(Clone, Debug, Default)]
pub struct Unread(Vec<&'static str>);

impl Unread {
    /// Was one of these written, or something that could have been meant for it?
    pub fn any_of(&self, keys: &[&str]) -> bool {
        self.0.iter().any(|key| key.is_empty() || keys.contains(key))
    }

    pub fn push(&mut self, key: &'static str) {
        self.0.push(key);
    }
}

/// The unknown keys of a map, each with the known key that it was most likely meant to be; `None` if it is no map.
pub fn check_keys(
    node: &Node,
    known: &[&'static str],
    sample: impl FnOnce() -> String,
    problems: &mut Problems,
) -> Option<Unread> {
    let Value::Map(entries) = &node.value else {
        wrong_type(node, "a map", &sample(), problems);
        return None;
    };
    let mut unread = Unread::default();
    for (key, _) in entries {
        let text = key.text().unwrap_or_default();
        if !known.contains(&text) {
            let meant = suggest::closest(text, known.iter().copied());
            unread.push(known.iter().copied().find(|key| Some(*key) == meant).unwrap_or_default());
            // In the order of their declaration: the keys that are used most come first.
            let help =
                meant.map_or_else(|| format!("the keys here are: {}", known.join(", ")), suggest::format_suggestion);
            let problem = Problem::new(Code::UnknownKey, format!("`{text}` is not a key here"));
            problems.push(problem.help(help).at(key.place.clone()));
        }
    }
    Some(unread)
}

/// The keys that a record must have, or the first ones where it needs none.
pub fn sample_of(keys: &[(&str, bool)]) -> String {
    const SHOWN: usize = 3;
    let mut shown: Vec<&str> = keys.iter().filter(|(_, required)| *required).map(|(key, _)| *key).collect();
    if shown.is_empty() {
        shown = keys.iter().take(SHOWN).map(|(key, _)| *key).collect();
    }
    let shown: Vec<String> = shown.into_iter().map(|key| format!("{key}: …")).collect();
    format!("{{ {} }}", shown.join(", "))
}

pub fn decode_key<T: Decode>(node: &Node, key: &'static str, problems: &mut Problems) -> Option<T> {
    match node.get(key) {
        Some(value) if !value.is_null() => T::decode(value, problems),
        Some(_) | None => T::absent().or_else(|| {
            problems.push(Problem::new(Code::MissingKey, format!("`{key}` is missing")).at(node.place.clone()));
            None
        }),
    }
}

#[macro_export]
macro_rules! record {
    ($($(#[doc = $about:literal])+ struct $name:ident $(short($short:path))? $(like($like:literal))? {
        $($(#[doc = $key_about:literal])+ $field:ident $(= $key:literal)? : $type:ty,)*
    })*) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Debug)]
        pub(crate) struct $name {
            #[allow(dead_code, reason = "not every record has problems of its own")]
            pub(crate) place: $crate::problem::Place,
            #[allow(dead_code, reason = "not every record misses what could not be read")]
            pub(crate) unread: $crate::workflow::record::Unread,
            $($(#[doc = $key_about])+ pub(crate) $field: $type,)*
        }

        impl $name {
            const KEYS: &'static [&'static str] = &[$($crate::record!(@key $field $($key)?),)*];
        }

        impl $crate::workflow::record::Decode for $name {
            fn decode(
                node: &$crate::yaml::Node,
                problems: &mut $crate::workflow::record::Problems,
            ) -> Option<Self> {
                $(let expanded;
                let node = match $short(node) {
                    Some(map) => { expanded = map; &expanded }
                    None => node,
                };)?
                let mut unread = $crate::workflow::record::check_keys(
                    node, Self::KEYS, <Self as $crate::workflow::record::Decode>::sample, problems)?;
                // Every key is decoded before any is given up on: all problems at once.
                $(let before = problems.len();
                let $field = $crate::workflow::record::decode_key::<$type>(
                    node, $crate::record!(@key $field $($key)?), problems);
                if problems.len() > before {
                    unread.push($crate::record!(@key $field $($key)?));
                })*
                Some(Self { place: node.place.clone(), unread, $($field: $field?,)* })
            }

            fn schema(schemas: &mut $crate::workflow::record::Schemas) -> serde_json::Value {
                schemas.named(stringify!($name), |schemas| {
                    let keys = vec![$($crate::workflow::record::KeySchema {
                        key: $crate::record!(@key $field $($key)?),
                        about: concat!($($key_about),+),
                        required: <$type as $crate::workflow::record::Decode>::absent().is_none(),
                        schema: <$type as $crate::workflow::record::Decode>::schema(schemas),
                    },)*];
                    let full = $crate::workflow::record::record_schema(concat!($($about),+), keys);
                    $crate::record!(@short full $($short)?)
                })
            }

            fn sample() -> String {
                let keys = [$((
                    $crate::record!(@key $field $($key)?),
                    <$type as $crate::workflow::record::Decode>::absent().is_none(),
                ),)*];
                $crate::record!(@sample keys $($like)?)
            }
        }
    )*};
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@sample $keys:ident) => { $crate::workflow::record::sample_of(&$keys) };
    (@sample $keys:ident $like:literal) => {{
        let _ = $keys;
        $like.to_owned()
    }};
    (@short $full:ident) => { $full };
    (@short $full:ident $short:path) => {
        serde_json::json!({ "anyOf": [$full, { "type": ["string", "number", "array"] }] })
    };
}
pub use record;
