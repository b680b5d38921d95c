//! Records in other formats: each export says what the record says. Whether it is of its format is asked of other
//! programs' readers, in `checks/`.

use crate::command::{exported, files, granule, made_up, record, record_schema};
use crate::command::{refused, succeeds, temporary, three, write_lines};
use granule_command::report::JSON_SCHEMA;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Every field of the schema is in the record, and the other way round; each has a description, and times and
/// lengths a unit.
#[test]
fn schema_and_record_have_the_same_fields() {
    fn of_schema(schema: &Value, path: &str, fields: &mut BTreeSet<String>) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{path}/{key}");
            let description = property["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.'), "{path}: {description:?}");
            if key.ends_with("_ms") || path.starts_with("/step_ms/") || path.starts_with("/phases_ms/") {
                assert!(description.contains("millisecond") || description.contains("ms."), "{path}");
            }
            of_schema(property, &path, fields);
            fields.insert(path);
        }
    }
    fn of_record(record: &Value, path: &str, fields: &mut BTreeSet<String>) {
        for (key, value) in record.as_object().into_iter().flatten() {
            let path = format!("{path}/{key}");
            of_record(value, &path, fields);
            fields.insert(path);
        }
    }
    let (mut described, mut present) = (BTreeSet::new(), BTreeSet::new());
    of_schema(&record_schema(), "", &mut described);
    of_record(&record(&["ropes", "--bodies", "60", "--steps", "3"]), "", &mut present);
    assert_eq!(described, present);
    let mut in_made_up = BTreeSet::new();
    of_record(&made_up("pile", &[1.0]), "", &mut in_made_up);
    assert_eq!(in_made_up, present, "the tests' own records");
}

/// `export schema` prints the schema, and takes no input.
#[test]
fn schema_is_printed() {
    let dir = temporary();
    assert_eq!(succeeds(dir.path(), &["export", "schema"]), JSON_SCHEMA);
    refused(dir.path(), &["export", "schema", "a.json"], "a.json: the schema takes no input");
}

/// CSV: a row a record, with every field of it but the single steps; names with commas and quotes survive.
#[test]
fn csv_has_every_field() {
    let mut odd = made_up("a, \"b\"", &[1.0]);
    odd["commit"] = json!("c");
    let text = exported("csv", &[made_up("pile", &[1.0, 2.0]), odd.clone()]);
    let rows: Vec<Vec<String>> = text.lines().map(fields).collect();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{text}");
    let column =
        |name: &str| rows[0].iter().position(|field| field == name).unwrap_or_else(|| panic!("no {name}"));
    let row = rows.iter().find(|row| row[column("commit")] == "c").expect("its row");
    let mut leaves = BTreeMap::new();
    collect_leaves(&odd, "", &mut leaves);
    leaves.retain(|name, _| !name.starts_with("samples_ms"));
    assert_eq!(leaves.len(), rows[0].len());
    for (name, value) in leaves {
        let field = &row[column(&name)];
        match value {
            Value::String(text) => assert_eq!(*field, text, "{name}"),
            number => assert_eq!(field.parse::<f64>().ok(), number.as_f64(), "{name}"),
        }
    }
}

/// Fields of a row by RFC 4180.
fn fields(row: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut chars = row.chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().expect("there is one");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => field.push(c),
        }
    }
    fields
}

fn collect_leaves(value: &Value, path: &str, leaves: &mut BTreeMap<String, Value>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}_{key}") };
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| collect_leaves(value, &join(key), leaves))
        }
        Value::Array(array) if path == "quality_momentum" => {
            leaves.insert(join("x"), array[0].clone());
            leaves.insert(join("y"), array[1].clone());
        }
        value => {
            leaves.insert(path.to_owned(), value.clone());
        }
    }
}

/// Markdown: one table whose rows have as many cells as its head, whatever a scene is called.
#[test]
fn markdown_is_a_table() {
    let mut records = three().to_vec();
    records.push(made_up("a|b <i> `c` [d]", &[1.0]));
    let text = exported("markdown", &records);
    let table: Vec<&str> = text.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(table.len(), 2 + 3, "{text}");
    let cells = |row: &str| row.replace("\\|", "").matches('|').count();
    assert!(table.iter().all(|row| cells(row) == cells(table[0])), "{text}");
    assert!(text.contains("| packed | 1000 | 1 | 8 | 4 | 2 | 1.500 |"), "{text}");
    assert!(text.contains("| a\\|b &lt;i> \\`c\\` \\[d\\] |"), "{text}");
}

/// `--out` writes what standard output would have, never over a file that is there unless told; bad records are named
/// and skipped; without any record there is nothing to export.
#[test]
fn outputs_and_bad_input() {
    let dir = temporary();
    let path = dir.path();
    fs::create_dir(path.join("records")).expect("a directory");
    write_lines(&path.join("records/a.jsonl"), &three());
    fs::write(path.join("records/b.json"), "{\"schema\":\"granule.run/1\",\"sce").expect("written");
    fs::write(path.join("records/c.json"), "{\"schema\":\"granule.run/7\"}").expect("written");
    fs::write(path.join("mine.csv"), "mine").expect("written");
    refused(path, &["export", "csv", "records", "--out", "mine.csv"], "--out mine.csv: already there");
    assert_eq!(fs::read_to_string(path.join("mine.csv")).expect("read"), "mine");
    let run = granule(path, &["export", "csv", "records", "--out", "mine.csv", "--force"]);
    assert_eq!((run.code, run.out.as_str()), (0, ""));
    let skipped: Vec<&str> = run.err.lines().collect();
    assert_eq!(
        skipped,
        [
            "granule: skipped records/b.json: truncated, or empty",
            "granule: skipped records/c.json: of the newer schema granule.run/7; this reads granule.run/1"
        ]
    );
    let written = fs::read_to_string(path.join("mine.csv")).expect("read");
    assert_eq!(written, granule(path, &["export", "csv", "records"]).out);
    assert_eq!(written.lines().count(), 4);
    assert_eq!(files(path), ["mine.csv", "records"], "nothing is left aside");
    refused(path, &["export", "csv"], "export: no input");
    refused(path, &["export", "csv", "records/b.json"], "export: there is no record");
    refused(path, &["export", "csv", "nowhere"], "nowhere: No such file");
    refused(path, &["export", "xml", "records"], "invalid value 'xml' for '<FORMAT>'");
}
