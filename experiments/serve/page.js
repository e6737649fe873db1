"use strict";
let state, open = null, trial = {remove: new Set(), change: new Map(), unseen: true, against: ""}, asked = 0;
const byId = id => document.getElementById(id);
const all = ["describe", "try", "check"];

// make makes an element. Text is never read as HTML.
function make(tag, of = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(of)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key in e && key !== "list") e[key] = value;
    else e.setAttribute(key, value);
  }
  e.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false));
  return e;
}
const spaced = name => name.replaceAll("_", " ");
const className = name => spaced(name.replace(/^\d+\./, ""));
const within = (name, group) => spaced(name.startsWith(group + "::") ? name.slice(group.length + 2) : name);
const attributeName = name => spaced(name.replace(/^has_/, "").replace("::", ": "));
const percent = p => (100 * p).toFixed(1) + " %";

function say(text, bad = false) {
  byId("status").textContent = text;
  byId("status").className = bad ? "bad" : "";
}

async function ask(path, body) {
  const of = body === undefined ? {} : {method: "POST", body: body instanceof Blob ? body : JSON.stringify(body)};
  let r, v;
  try {
    r = await fetch(path, of);
    v = await r.json();
  } catch {
    throw new Error("lago-train serve does not answer. Is it still running?");
  }
  if (!r.ok) throw new Error(v.error);
  return v;
}

// change saves a change of the descriptions at once.
async function change(body, done = "Saved.") {
  try {
    update(await ask(body ? "edit" : "undo", {version: state.version, ...body}));
    say(done);
    return true;
  } catch (e) {
    try { update(await ask("state")); } catch { /* the first error says it */ }
    say(e.message, true);
    return false;
  }
}

function update(next) {
  state = next;
  byId("undo").disabled = !state.undo || state.read_only;
  show();
}

const current = () => all.find(id => !byId(id).hidden);
function show() {
  const focus = document.activeElement && document.activeElement.dataset.key, top = scrollY;
  ({describe: showDescribe, try: showTry, check: showCheck})[current()]();
  if (focus) document.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
  scrollTo(0, top);
}
function select(id) {
  for (const other of all) {
    byId(other).hidden = other !== id;
    byId("tab-" + other).setAttribute("aria-selected", other === id);
    byId("tab-" + other).tabIndex = other === id ? 0 : -1;
  }
  show();
}

const picture = (row, name) => make("img", {src: "thumbnail/" + row, alt: "a photograph of " + className(name), loading: "lazy"});
const known = c => c.values.filter(v => v !== null).length;
const find = name => state.classes.find(c => c.name === name);

// form lists the attributes of a class by groups: a chip that is yes or not known, and a strength.
// save gets the values that change.
function form(c, values, save, disabled) {
  const groups = new Map();
  state.attributes.forEach((a, m) => groups.set(a.group, [...(groups.get(a.group) || []), m]));
  const strengths = [0, .1, .5, .75, 1];
  return [...groups].map(([group, members]) => {
    const fields = members.map(m => {
      const a = state.attributes[m], v = values[m], name = within(a.name, group);
      const options = [make("option", {value: "", textContent: "not known"}), ...strengths.map((p, i) => make("option", {value: p, textContent: state.words[i]}))];
      if (v !== null && !strengths.includes(v)) options.push(make("option", {value: v, textContent: v.toFixed(2)}));
      const strength = make("select", {disabled, "aria-label": name + ": strength", "data-key": c + a.name + "s",
        onchange: e => save({[a.name]: e.target.value === "" ? null : Number(e.target.value)})}, options);
      strength.value = v === null ? "" : String(v);
      return make("span", {className: v === null ? "chip" : "chip known"},
        make("button", {type: "button", disabled, "aria-pressed": String(v !== null && v >= .5), textContent: name, "data-key": c + a.name,
          onclick: () => save({[a.name]: v === 1 ? null : 1})}), strength);
    });
    const unknown = members.filter(m => values[m] === null);
    const rest = unknown.length > 0 && members.length > 1 && make("button", {type: "button", disabled, textContent: "the others: no", "data-key": c + group + "rest",
      onclick: () => save(Object.fromEntries(unknown.map(m => [state.attributes[m].name, 0])))});
    return make("fieldset", {}, make("legend", {textContent: group === "" ? "attributes" : spaced(group.replace(/^has_/, ""))}), fields, rest);
  });
}

function showDescribe() {
  const c = open && find(open), off = state.read_only;
  if (!c) {
    const filter = make("input", {type: "search", placeholder: "class", "aria-label": "Show classes whose name contains", value: showDescribe.filter || "", "data-key": "filter",
      oninput: e => { showDescribe.filter = e.target.value; show(); }});
    const name = make("input", {placeholder: "new class", "aria-label": "Name of a new class", disabled: off});
    const attribute = make("input", {placeholder: "new attribute", "aria-label": "Name of a new attribute", disabled: off});
    const group = make("input", {placeholder: "its group", "aria-label": "Group of the new attribute", disabled: off});
    const add = (body, text) => e => { e.preventDefault(); change(body(), text); };
    const shown = state.classes.filter(c => className(c.name).toLowerCase().includes(filter.value.toLowerCase()));
    byId("describe").replaceChildren(
      make("p", {className: "note", textContent: `${state.classes.length} classes, ${state.attributes.length} attributes. ${off || "Every change is saved at once in classes.csv and attributes.csv."}`}),
      make("div", {className: "row"}, filter,
        make("form", {className: "row", onsubmit: add(() => ({class: name.value, new: true}), "Class added.")}, name, make("button", {textContent: "Add class", disabled: off})),
        make("form", {className: "row", onsubmit: add(() => ({attribute: {name: attribute.value, group: group.value}}), "Attribute added.")}, attribute, group, make("button", {textContent: "Add attribute", disabled: off}))),
      make("ul", {className: "grid"}, shown.map(c => make("li", {}, make("button", {"data-key": "class" + c.name, onclick: () => { open = c.name; show(); scrollTo(0, 0); }},
        state.pictures && c.rows.length > 0 && picture(c.rows[0], c.name), make("strong", {textContent: className(c.name)}),
        make("small", {textContent: `${known(c)} of ${state.attributes.length} described, ${c.rows.length} samples`}),
        make("progress", {max: Math.max(state.attributes.length, 1), value: known(c), "aria-label": "described"}))))));
    return;
  }
  const from = make("select", {"aria-label": "Copy the description of", disabled: off}, state.classes.filter(o => o !== c && known(o) > 0).map(o => make("option", {value: o.name, textContent: className(o.name)})));
  const copy = () => change({class: c.name, cells: Object.fromEntries(state.attributes.map((a, m) => [a.name, find(from.value).values[m]]))}, "Copied from " + className(from.value) + ".");
  byId("describe").replaceChildren(
    make("div", {className: "row"}, make("button", {textContent: "All classes", "data-key": "all", onclick: () => { open = null; show(); }}),
      make("button", {textContent: "Next class", "data-key": "next", onclick: () => { open = state.classes[(state.classes.indexOf(c) + 1) % state.classes.length].name; show(); scrollTo(0, 0); }}),
      from.options.length > 0 && from, from.options.length > 0 && make("button", {textContent: "Copy", disabled: off, onclick: copy})),
    make("h2", {textContent: `${className(c.name)}: ${known(c)} of ${state.attributes.length} described`}),
    make("div", {className: "pictures"}, state.pictures && c.rows.slice(0, 8).map(row => picture(row, c.name))),
    ...form(c.name, c.values, cells => change({class: c.name, cells}), off));
}

// valuesOf returns the values of a class with the changes that are tried.
const valuesOf = c => {
  const tried = trial.change.get(c.name) || {};
  return state.attributes.map((a, m) => Object.hasOwn(tried, a.name) ? tried[a.name] : c.values[m]); // any name, as constructor
};

async function predict() {
  if (trial.sample === undefined && !trial.photo) return;
  const mine = ++asked;
  const change = [...trial.change].map(([name, cells]) => ({class: name, new: !find(name), cells}));
  try {
    const a = await ask("predict", {sample: trial.photo ? null : trial.sample, unseen: trial.unseen, remove: [...trial.remove], against: trial.against, change});
    if (mine === asked) { trial.answer = a; trial.error = null; }
  } catch (e) {
    if (mine === asked) { trial.answer = null; trial.error = e.message; }
  }
  if (mine === asked && current() === "try") show();
}
async function drop(file) {
  say("Computing the features of " + file.name + ".");
  try {
    trial.photo = (await ask("photograph?name=" + encodeURIComponent(file.name), file)).name;
    if (trial.url) URL.revokeObjectURL(trial.url);
    trial.url = URL.createObjectURL(file);
    say("");
    predict();
  } catch (e) { say(e.message, true); }
}

function showTry() {
  const view = byId("try"), model = state.model;
  if (!model) {
    view.replaceChildren(make("p", {}, "There is no model. Train one with ", make("code", {textContent: `lago-train run --dataset ${state.name}`}), ", then ", make("code", {textContent: `lago-train serve ${state.name} --model latest`}), "."));
    return;
  }
  const pick = c => { trial.class = c.name; trial.photo = null; trial.sample = c.rows[0]; predict(); show(); };
  const classes = state.classes.filter(c => c.rows.length > 0), shown = find(trial.class);
  const chooser = make("select", {"aria-label": "Class of the sample", "data-key": "chooser", onchange: e => pick(find(e.target.value))},
    make("option", {value: "", textContent: "choose a class"}), classes.map(c => make("option", {value: c.name, textContent: className(c.name)})));
  chooser.value = trial.class || "";
  const zone = make("label", {className: "drop", ondragover: e => { e.preventDefault(); zone.classList.add("over"); }, ondragleave: () => zone.classList.remove("over"),
    ondrop: e => { e.preventDefault(); zone.classList.remove("over"); if (e.dataTransfer.files[0]) drop(e.dataTransfer.files[0]); }},
    "Drop a photograph or choose one: ", make("input", {type: "file", accept: "image/*", onchange: e => e.target.files[0] && drop(e.target.files[0])}),
    trial.photo && make("img", {src: trial.url, alt: trial.photo}));
  const samples = shown && make("div", {className: "pictures"}, shown.rows.slice(0, 30).map((row, i) => make("button", {"aria-pressed": String(!trial.photo && trial.sample === row), "data-key": "sample" + row, "aria-label": "sample " + row,
    onclick: () => { trial.photo = null; trial.sample = row; predict(); show(); }}, state.pictures ? picture(row, shown.name) : String(row))));
  const a = trial.answer;
  const widest = a && Math.max(...a.groups.map(g => Math.abs(g.log_odds)), 1e-9);
  const bar = (name, value, text, className = "") => make("div", {className: "bar"}, make("span", {className, textContent: name}), make("meter", {max: 1, value, "aria-label": name}), make("span", {className: "number", textContent: text}));
  const result = a ? make("div", {},
    make("h2", {textContent: `Most likely of ${a.classes} ${trial.unseen ? "unseen " : ""}classes: ${className(a.predicted)}` + (a.label === null ? "" : a.label === a.predicted ? " (correct)" : ` (true class: ${className(a.label)})`)}),
    a.label !== null && !a.candidate && make("p", {className: "note", textContent: `The true class is no candidate${trial.unseen && find(a.label)?.trained ? ", since the model was trained on it: clear “only classes that the model was not trained on” to include it." : ". Choose it below Candidates, or describe it."}`}),
    make("p", {id: "sentence", textContent: a.sentence}),
    a.likely.map(l => bar(className(l.class), l.p, percent(l.p))),
    make("h2", {textContent: `Groups: ${className(a.predicted)} over ${className(a.against)}, log odds ${a.log_odds.toFixed(2)}`}),
    a.groups.map(g => bar(attributeName(g.group), Math.abs(g.log_odds) / widest, (g.log_odds > 0 ? "+" : "") + g.log_odds.toFixed(2), g.log_odds < 0 ? "against" : "")))
    : make("p", {className: trial.error ? "against" : "note", textContent: trial.error || "Choose a sample or a photograph."});
  const names = [...state.classes.map(c => c.name), ...[...trial.change.keys()].filter(name => !find(name))];
  const candidates = names.filter(n => !trial.unseen || !find(n)?.trained);
  const edited = trial.edit && (find(trial.edit) || {name: trial.edit, values: state.attributes.map(() => null)});
  const editor = make("select", {"aria-label": "Class to change", "data-key": "editor", onchange: e => { trial.edit = e.target.value; show(); }},
    make("option", {value: "", textContent: "choose a class"}), names.map(n => make("option", {value: n, textContent: className(n)})));
  editor.value = trial.edit || "";
  const fresh = make("input", {placeholder: "class that does not exist yet", "aria-label": "Name of a class to try"});
  const tried = trial.edit && trial.change.has(trial.edit);
  const keep = async () => {
    if (await change({class: trial.edit, new: !find(trial.edit), cells: trial.change.get(trial.edit)}, className(trial.edit) + " is in classes.csv.")) { trial.change.delete(trial.edit); predict(); show(); }
  };
  view.replaceChildren(
    make("p", {className: "note", textContent: `Model: ${model.label}.` + (model.unknown.length > 0 ? ` It does not know ${model.unknown.length} of the attributes, which have no effect until it is trained again.` : "")}),
    make("div", {className: "columns"},
      make("div", {}, make("div", {className: "row"}, chooser), samples, model.network ? zone : make("p", {className: "note", textContent: "With --weights FILE, photographs can be predicted."}), result),
      make("div", {}, make("h2", {textContent: "What if"}),
        make("label", {}, make("input", {type: "checkbox", checked: trial.unseen, onchange: e => { trial.unseen = e.target.checked; predict(); }}), " only classes that the model was not trained on"),
        make("details", {open: !!trial.listed, ontoggle: e => { trial.listed = e.target.open; }}, make("summary", {textContent: `Candidates (${candidates.filter(n => !trial.remove.has(n)).length})`}),
          make("div", {className: "list"}, candidates.map(n => make("label", {}, make("input", {type: "checkbox", checked: !trial.remove.has(n), "data-key": "candidate" + n,
            onchange: e => { e.target.checked ? trial.remove.delete(n) : trial.remove.add(n); predict(); }}), " " + className(n))))),
        make("form", {className: "row", onsubmit: e => { e.preventDefault(); const n = fresh.value.trim(); if (n && !find(n)) { trial.change.set(n, {}); trial.edit = n; show(); } }}, fresh, make("button", {textContent: "Add for now"})),
        make("div", {className: "row"}, "Change the description of", editor, tried && make("button", {textContent: "Keep", disabled: state.read_only, onclick: keep}),
          tried && make("button", {textContent: "Forget", onclick: () => { trial.change.delete(trial.edit); if (!find(trial.edit)) trial.edit = null; predict(); show(); }})),
        edited && make("p", {className: "note", textContent: tried ? "These changes are only tried. Keep writes them to classes.csv." : "Changes here are only tried."}),
        edited && form(edited.name, valuesOf(edited), cells => { trial.change.set(edited.name, {...trial.change.get(edited.name), ...cells}); predict(); show(); }, false))));
}

async function showCheck() {
  let f;
  try { f = await ask("check"); } catch (e) { return say(e.message, true); }
  if (current() !== "check") return;
  const link = name => make("button", {textContent: className(name), onclick: () => { open = name; select("describe"); }});
  const side = name => make("div", {}, link(name), state.pictures && make("div", {className: "pictures"}, (find(name)?.rows || []).slice(0, 3).map(row => picture(row, name))));
  const byGroup = names => [...Map.groupBy(names, name => state.attributes.find(a => a.name === name).group)].map(([group, members]) =>
    make("p", {}, group !== "" && make("strong", {textContent: spaced(group.replace(/^has_/, "")) + ": "}), members.map(name => within(name, group)).join(", ")));
  byId("check").replaceChildren(...[
    make("h2", {textContent: `Pairs of classes that the descriptions hardly distinguish (${f.number})`}),
    f.pairs.length > 0 && make("p", {className: "note", textContent: "The expected confusion is the share of the two classes' samples that is taken for the other one even if every attribute is detected without error: at most this."}),
    f.separating !== "" && make("p", {}, `Fill in first: ${attributeName(f.separating)}, which ${f.of} of these pairs lack.`),
    ...f.pairs.map(p => make("div", {className: "pair"}, make("div", {className: "columns"}, side(p.a), side(p.b)),
      make("p", {textContent: `Expected confusion ${percent(p.confusion)}. ` + (p.differ.length > 0 ? "They differ most in " + p.differ.map(attributeName).join(", ") + ". " : "They differ in nothing that is described. ") +
        (p.missing.length > 0 ? "Not described for one or both: " + p.missing.map(attributeName).join(", ") + "." : "Another attribute on which they differ would separate them.")}))),
    make("h2", {textContent: `Attributes that are the same for all classes (${f.constant.length})`}), ...byGroup(f.constant),
    make("h2", {textContent: `Classes with empty cells (${f.missing.classes.length})`}), make("div", {className: "row"}, f.missing.classes.map(c => make("span", {}, link(c.name), ` ${c.entries} empty`)))].filter(Boolean));
}

all.forEach((id, i) => byId("tab-" + id).addEventListener("click", () => select(id)));
document.querySelector("nav").addEventListener("keydown", e => {
  const step = {ArrowRight: 1, ArrowLeft: 2}[e.key];
  if (step) { const id = all[(all.indexOf(current()) + step) % 3]; select(id); byId("tab-" + id).focus(); }
});
byId("undo").addEventListener("click", () => change(null, "The last change is undone."));
ask("state").then(s => {
  state = s;
  byId("undo").disabled = !s.undo || s.read_only;
  const [view, row] = location.hash.slice(1).split("/"), c = row && state.classes.find(c => c.rows.includes(Number(row)));
  if (c) { trial.class = c.name; trial.sample = Number(row); predict(); }
  select(all.includes(view) ? view : "describe");
}, e => say(e.message, true));
