//! Contract: each module of the engine uses only the layers below it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The layers, from the lowest up. A module uses those before it, and itself.
const LAYERS: [&str; 23] = [
    "base",
    "error",
    "isa",
    "material",
    "settings",
    "lane",
    "formula",
    "geometry",
    "timing",
    "crew",
    "body",
    "particles",
    "joints",
    "narrowphase",
    "broadphase",
    "contacts",
    "solver",
    "sleep",
    "continuous",
    "world",
    "assembly",
    "scene",
    "verify",
];

/// The first module that may use what the crate exports to hosts; those after it may, too.
const FIRST_HOST: &str = "assembly";

fn level(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == module)
}

/// All source files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// The code without comments and without unit tests. Unit tests may use any module.
fn code(text: &str) -> String {
    let body = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    body.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The first names of all paths that begin with `crate::`.
fn used(code: &str) -> Vec<String> {
    let name = |text: &str| {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    let mut names = Vec::new();
    for rest in code.split("crate::").skip(1) {
        match rest.trim_start().strip_prefix('{') {
            Some(group) => {
                let mut depth = 0;
                let mut first = true;
                for (at, c) in group.char_indices() {
                    if first && depth == 0 && c.is_alphabetic() {
                        names.push(name(&group[at..]));
                        first = false;
                    }
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => first = true,
                        _ => {}
                    }
                }
            }
            None => names.push(name(rest)),
        }
    }
    names
}

/// Contract: no module of the engine uses one above it, so that there are no cycles between modules.
#[test]
fn no_module_uses_one_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 80, "only {} files are found", files.len());
    let mut wrong = BTreeMap::new();
    for file in &files {
        let inside = file.strip_prefix(&root).expect("below the root");
        let module = inside.iter().next().and_then(|first| Path::new(first).file_stem()).expect("a name");
        let module = module.to_str().expect("plain names");
        if module == "lib" {
            continue;
        }
        let Some(own) = level(module) else {
            wrong.insert(inside.to_path_buf(), format!("`{module}` is in no layer"));
            continue;
        };
        for name in used(&code(&std::fs::read_to_string(file).expect("text"))) {
            let allowed = match level(&name) {
                Some(level) => level <= own,
                None => level(FIRST_HOST).is_some_and(|host| own >= host),
            };
            if !allowed {
                wrong.insert(inside.to_path_buf(), format!("uses `{name}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Contract: no file of the engine has more than 600 lines.
#[test]
fn files_are_short() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let lines = |file: &PathBuf| std::fs::read_to_string(file).expect("text").lines().count();
    let long: Vec<_> =
        files.iter().map(|file| (lines(file), file)).filter(|(lines, _)| *lines > 600).collect();
    assert!(files.len() > 80 && long.is_empty(), "{long:#?}");
}

/// The words between backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Contract: each file and folder that the architecture document and the contributor's guide name is there: below `src/`, or in another folder
/// of the repository.
#[test]
fn documents_name_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    let mut named = 0;
    for document in ["docs/architecture.md", "CONTRIBUTING.md"] {
        let text = std::fs::read_to_string(root.join(document)).expect("a document");
        let is_path = |word: &&str| {
            let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
            plain
                && (word.ends_with(".rs")
                    || word.ends_with(".md")
                    || word.trim_end_matches('/').contains('/'))
        };
        for path in quoted(&text).filter(is_path) {
            named += 1;
            if ![root.join(path), root.join("src").join(path)].iter().any(|path| path.exists()) {
                missing.push(format!("{document}: {path}"));
            }
        }
    }
    assert!(named > 100 && missing.is_empty(), "{named} are named; not there: {missing:#?}");
}

/// Contract: the architecture document draws the layers in their order.
#[test]
fn the_drawing_shows_the_layers() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let text = std::fs::read_to_string(document).expect("a document");
    let drawing = text.split("```text").nth(1).and_then(|rest| rest.split("```").next()).expect("a drawing");
    let mut drawn: Vec<_> =
        drawing.lines().skip(3).filter_map(|line| line.split_whitespace().next()).collect();
    drawn.reverse();
    assert_eq!(drawn, LAYERS);
}

/// Contract: the reader of `use` lines finds each name of a group, and ignores comments.
#[test]
fn paths_are_read_as_they_are_written() {
    let text = "use crate::{a::{B, C}, d, Error};\nuse crate::lane::Lane; // crate::world\nlet x = crate::solver::X;";
    assert_eq!(used(&code(text)), ["a", "d", "Error", "lane", "solver"]);
}
