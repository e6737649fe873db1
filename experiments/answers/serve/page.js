"use strict";
let state, open = null, brush = 1, trial = {remove: new Set(), change: new Map(), unseen: true}, asked = 0;
const byId = id => document.getElementById(id);
const all = ["describe", "attributes", "review", "try", "check"];

// expected is what the given entries say about the others: the order of the groups, filled entries and doubtful ones. It is asked for when a
// view opens, and may be of an earlier version.
let expected = {version: -1, order: [], filled: {}, doubts: [], described: 0, least: 0};
async function expect() {
  if (!state || expected.version === state.version) return;
  const was = expected;
  try { expected = await ask("expect"); } catch { return; } // groups stay in the order of the file
  const begun = byId("attributes").contains(document.activeElement) && !document.activeElement.matches("h2");
  if (showAttributes.first && !begun) showAttributes.group = undefined; // the best one, now that it is known
  const typing = document.activeElement.matches("input:not([type=checkbox])"); // which is not to be lost
  if (!typing && (was.order.length === 0 || expected.order[0]?.explained !== null)) show();
}
const filledOf = (c, m) => c.values[m] === null ? expected.filled[c.name]?.[m] ?? null : null;

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
// A heading gets the focus when its view opens.
const heading = text => make("h2", {tabIndex: -1, "data-key": "heading", textContent: text});

// say shows a message, until the next click or change. Its kind is "bad" for errors, and "heard" for what is seen elsewhere on the page.
function say(text, kind = "") {
  byId("status").textContent = text;
  byId("status").className = kind;
}
for (const event of ["click", "change", "submit"]) document.addEventListener(event, e => e.target.closest("button, input, select, summary, form") && say(""), true);

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

// change saves changes of the descriptions at once, one request after the other; without any it takes the last ones back.
let saving = Promise.resolve();
function change(changes, done = "Saved.") {
  const save = async () => {
    try {
      update(await ask(changes ? "edit" : "undo", {version: state.version, ...(changes && {changes})}));
      say(done);
      return true;
    } catch (e) {
      try { update(await ask("state")); } catch { /* the first error says it */ }
      say(e.message, "bad");
      return false;
    }
  };
  return saving = saving.then(save);
}
const undo = () => state.undo > 0 && !state.read_only && change(null, "The last change is undone.");

function update(next) {
  state = next;
  byId("banner").textContent = state.read_only;
  byId("banner").hidden = !state.read_only;
  byId("undo").hidden = !!state.read_only;
  byId("undo").disabled = state.undo === 0;
  byId("undo").textContent = state.undo > 0 ? `Undo (${state.undo})` : "Undo";
  show();
}

const current = () => all.find(id => !byId(id).hidden);
function show() {
  const at = document.activeElement, focus = at?.dataset.key, inside = at?.closest("section"), top = scrollY;
  const table = document.querySelector(".table"), scrolled = table && [table.scrollLeft, table.scrollTop];
  const shown = ({describe: showDescribe, attributes: showAttributes, review: showReview, try: showTry, check: showCheck})[current()]();
  if (scrolled && document.querySelector(".table")) document.querySelector(".table").scrollTo(...scrolled);
  if (focus) document.querySelector(`section:not([hidden]) [data-key="${CSS.escape(focus)}"]`)?.focus({preventScroll: true});
  scrollTo(0, top);
  if (inside?.id === current() && document.activeElement === document.body) focusHeading(); // what had the focus is gone
  return shown;
}
const focusHeading = () => byId(current()).querySelector("h2")?.focus();

// Each view, class, group and sample has an address, which Back returns to: go opens it, and route shows it. The focus goes to the heading of
// what opened, unless it is to stay.
const decoded = text => { try { return decodeURIComponent(text); } catch { return text; } };
const address = (view, of) => "#" + view + (of === undefined ? "" : "/" + encodeURIComponent(of));
function go(view, of, stay = false) { history.pushState(null, "", address(view, of)); route(stay); }
function route(stay = false) {
  if (!state) return; // it is shown once it is there
  const [view, of] = location.hash.slice(1).split("/"), id = all.includes(view) ? view : "describe", name = of && decoded(of);
  if (id === "describe") open = name && find(name) ? name : null;
  if (id === "attributes") [showAttributes.group, showAttributes.first] = [name, !name];
  const sampled = id === "try" && name && state.classes.find(c => c.rows.includes(Number(name)));
  if (name && (id === "try" && !sampled || id === "describe" && !open)) say(`There is no ${id === "try" ? "sample" : "class"} ${name}.`, "bad");
  if (sampled) { trial.class = sampled.name; trial.photo = null; chosen.value = ""; trial.sample = Number(name); predict(); }
  for (const other of all) {
    byId(other).hidden = other !== id;
    byId("tab-" + other).setAttribute("aria-selected", other === id);
    byId("tab-" + other).tabIndex = other === id ? 0 : -1;
  }
  const drawn = show(), place = id === "try" ? id : id + "/" + (name || ""), first = route.place === undefined;
  if (!first && !stay && place !== route.place) focusHeading();
  route.place = place;
  scrollTo(0, 0);
  const asked = id === "attributes" || id === "review" || open ? expect() : null, empty = expected.version < 0 && (id === "review" || showAttributes.first && id === "attributes");
  held = null;
  if (id === "check") hold(drawn);
  else if (empty) hold(asked);
}

// Keys that are pressed in a view while it loads act once it is there.
let held = null;
async function hold(loading) {
  const keys = held = [];
  await loading;
  if (held !== keys) return; // another view is open
  held = null;
  keys.forEach(press);
}
addEventListener("keydown", e => {
  if (!held || !e.isTrusted || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("header")) return;
  e.preventDefault();
  e.stopPropagation();
  held.push({key: e.key, shiftKey: e.shiftKey});
}, true);
function press({key, shiftKey}) {
  const at = document.activeElement;
  if (!at.dispatchEvent(new KeyboardEvent("keydown", {key, shiftKey, bubbles: true, cancelable: true}))) return;
  if (key === "Tab") {
    const stops = [...document.querySelectorAll("button, input, select, summary, [tabindex]")].filter(e => e === at || e.tabIndex >= 0 && !e.disabled && e.getClientRects().length > 0);
    stops[stops.indexOf(at) + (shiftKey ? -1 : 1)]?.focus();
  } else if ((key === "Enter" || key === " ") && at.matches("button, summary, [type=checkbox]")) at.click();
}

const picture = row => make("img", {src: "thumbnail/" + row, alt: "", loading: "lazy"}); // what it is in has its name
function enlarge(row, name) {
  Object.assign(byId("large").firstChild, {src: `thumbnail/${row}?large`, alt: "a photograph of " + className(name)});
  byId("large").showModal();
}
const zoom = (row, name, place = {}) => make("button", {className: "zoom", ...place, "aria-label": "Enlarge the photograph of " + className(name), "data-key": "zoom" + row, onclick: () => enlarge(row, name)}, picture(row));
const known = c => c.values.filter(v => v !== null).length;
const find = name => state.classes.find(c => c.name === name);

const signed = v => v.toFixed(2).replace(/^-(?=0\.00)|^(?=\d)/, "+");
const groupName = group => group === "" ? "attributes" : spaced(group.replace(/^has_/, ""));
// groupsOf returns the indices of the attributes by group, in the order in which the groups should be asked for.
function groupsOf() {
  const groups = new Map(expected.order.map(g => [g.name, []]));
  state.attributes.forEach((a, m) => groups.set(a.group, [...(groups.get(a.group) || []), m]));
  return new Map([...groups].filter(([, members]) => members.length > 0));
}
// explains says how much the first groups say about all.
function explains(asked) {
  const share = expected.order[asked - 1]?.explained ?? null, n = groupsOf().size;
  if (share !== null) return `${asked} of ${n} groups: ${(100 * share).toFixed(1)} % of what all of them say.`;
  return expected.described < expected.least ? `Groups are in the order of the file until ${expected.least} classes are described.` : "";
}

// The strengths, their keys and their words. Chips are set to that of the brush by a click, and to any by its key.
const strengths = [["y", 1, 4], ["o", .75, 3], ["s", .5, 2], ["r", .1, 1], ["n", 0, 0], ["?", null]];
const word = v => v === null ? "not known" : state.words[strengths.find(([, p]) => p === v)?.[2]] || v.toFixed(2);
const brushes = off => !off && make("div", {className: "row brush", role: "group", "aria-label": "A click means"}, "A click means", [...strengths, ["f", "filled"]].map(([key, p]) =>
  make("button", {type: "button", "aria-pressed": String(brush === p), "data-key": "brush" + key, title: `key ${key} on an entry, to which arrows move` + (key === "f" ? "; grey entries are filled from the others, and become given" : ""),
    onclick: () => { brush = p; show(); }}, key === "f" ? "as filled" : word(p), make("small", {textContent: ` ${key}`}))));

// chip is an entry: a click sets it, and a second one empties it again. An empty one shows what it is filled with, in grey. Of descriptions that
// are only read it is a text.
function chip(text, name, v, key, set, off, place = {}, filled = null) {
  if (off) return make("span", {className: v === null || v === 0 ? "value note" : "value"}, text && text + ": ", word(v));
  const shown = v !== null ? word(v) : filled !== null ? `≈ ${Math.round(100 * filled)} %` : "";
  const take = p => p !== "filled" ? set(p) : v === null && filled !== null && set(filled);
  const e = make("button", {type: "button", className: "chip" + (v === null ? (filled === null ? "" : " filled") : v === 0 ? " no" : " known"), "aria-pressed": String(v !== null && v >= .5),
    "aria-label": `${name}: ${word(v)}`, "data-key": key, ...place, onclick: () => take(v === brush ? null : brush)}, text, shown && v !== 1 && make("small", {textContent: (text ? " " : "") + shown}), text === "" && v === 1 && "yes");
  e.set = take;
  return e;
}
// takeFilled is a button by which the filled entries of classes become given.
function takeFilled(classes, members, off, key) {
  const changes = classes.map(c => ({class: c.name, cells: Object.fromEntries(members.filter(m => filledOf(c, m) !== null).map(m => [state.attributes[m].name, filledOf(c, m)]))})).filter(c => Object.keys(c.cells).length > 0);
  const n = changes.reduce((sum, c) => sum + Object.keys(c.cells).length, 0);
  return n > 0 && !off && make("button", {type: "button", textContent: `take ${n} as filled`, "data-key": key, onclick: () => change(changes)});
}
document.addEventListener("keydown", e => {
  const target = e.target, typing = target.matches("input:not([type=checkbox]), select");
  if (e.key.toLowerCase() === "z" && (e.ctrlKey || e.metaKey) && !e.shiftKey && !typing) { e.preventDefault(); undo(); return; }
  if (!target.matches(".chip, .table button, .samples button") || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "=" && target.right) { e.preventDefault(); target.right(); return; }
  const strength = target.matches(".chip") && [...strengths, ["f", "filled"]].find(([key]) => key === e.key.toLowerCase()), {row, column} = target.dataset, inTable = row !== undefined;
  const step = strength ? (inTable ? [1, 0] : [0, 1]) : {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity]}[e.key];
  if (!step) return;
  e.preventDefault();
  const line = [...document.querySelectorAll(inTable ? `section:not([hidden]) [data-row="${row}"]` : target.matches(".chip") ? "section:not([hidden]) details[open] .chip" : ".samples button")];
  const next = inTable && step[0] ? document.querySelector(`section:not([hidden]) [data-row="${Number(row) + step[0]}"][data-column="${column}"]`)
    : line[Math.min(Math.max(line.indexOf(target) + step[0] + step[1], 0), line.length - 1)];
  next?.focus();
  if (strength) target.set(strength[1]);
});
// A table and samples are one stop of the keyboard each, at what had the focus last.
document.addEventListener("focusin", e => {
  const box = e.target.closest(".one-stop");
  if (!box || e.target === box) return;
  for (const other of box.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
  e.target.tabIndex = 0;
  box.closest("section").dataset.stop = e.target.dataset.key;
});
function oneStop(view, first) {
  const box = view.querySelector(".one-stop"), at = box?.querySelector(`[data-key="${CSS.escape(view.dataset.stop || "")}"]`) || box?.querySelector(first);
  if (at) at.tabIndex = 0;
}

// form lists the attributes of a class by groups, which are folded in a narrow window and beside a prediction. save gets the values that change.
const wide = matchMedia("(min-width: 60rem)"), folded = new Map();
wide.addEventListener("change", () => state && show());
function form(c, values, save, off, drafts = [], checked, filled = () => null) {
  return [brushes(off), ...[...groupsOf()].map(([group, members]) => {
    const name = m => state.attributes[m].name, unknown = members.filter(m => values[m] === null), said = members.filter(m => values[m] >= .5);
    const text = said.map(m => within(name(m), group) + (values[m] === 1 ? "" : ` (${word(values[m])})`)).join(", ") || (unknown.length < members.length ? "none" : "");
    const drafted = drafts.includes(group), draft = drafted && !off && make("button", {type: "button", className: "draft", textContent: "Mark draft as checked", "data-key": c + group + "checked", onclick: () => checked([group])});
    return make("details", {open: !(folded.get(group) ?? (!checked || !wide.matches))},
      make("summary", {"data-key": "group" + group, onclick: e => folded.set(group, e.currentTarget.parentNode.open)}, make("strong", {textContent: groupName(group)}), " ", drafted && make("small", {className: "draft", textContent: "draft "}),
        make("small", {textContent: [text, unknown.length > 0 && `${unknown.length} open`].filter(Boolean).join(", ")})),
      make("div", {className: "row"}, members.map(m => chip(within(name(m), group), within(name(m), group), values[m], c + name(m), v => save({[name(m)]: v}), off, {}, filled(m))),
        !off && unknown.length > 0 && members.length > 1 && make("button", {type: "button", textContent: "the others: no", "data-key": c + group + "rest", onclick: () => save(Object.fromEntries(unknown.map(m => [name(m), 0])))}),
        checked && takeFilled([find(c)], members, off, c + group + "filled"), draft));
  })];
}

function showDescribe() {
  const c = open && find(open), off = state.read_only;
  if (!c) {
    const filter = make("input", {type: "search", placeholder: "find a class", "aria-label": "Show classes whose name contains", value: showDescribe.filter || "", "data-key": "filter",
      oninput: e => { showDescribe.filter = e.target.value; show(); }});
    const name = make("input", {placeholder: "new class", "aria-label": "Name of a new class", "data-key": "new class"});
    const attribute = make("input", {placeholder: "new attribute", "aria-label": "Name of a new attribute", "data-key": "new attribute"});
    const group = make("input", {placeholder: "its group", "aria-label": "Group of the new attribute", "data-key": "new group"});
    const add = (body, text) => e => { e.preventDefault(); change([body()], text); };
    const shown = state.classes.filter(c => className(c.name).toLowerCase().includes(filter.value.toLowerCase()));
    byId("describe").replaceChildren(...[
      heading(`${state.classes.length} classes, ${state.attributes.length} attributes`),
      !off && make("p", {className: "note", textContent: "Every change is saved at once in classes.csv and attributes.csv."}),
      state.attributes.length === 0 ? make("p", {}, "There are no attributes yet: add some here, or take those of a similar data set with ", make("code", {textContent: `lago-train dataset describe ${state.name} --like OTHER`}), " before the page is opened.") : beginning(),
      make("div", {className: "row"}, filter,
        !off && make("form", {className: "row", onsubmit: add(() => ({class: name.value, new: true}), "Class added.")}, name, make("button", {textContent: "Add class"})),
        !off && make("form", {className: "row", onsubmit: add(() => ({attribute: {name: attribute.value, group: group.value}}), "Attribute added.")}, attribute, group, make("button", {textContent: "Add attribute"}))),
      make("ul", {className: "grid"}, shown.map(c => make("li", {}, make("button", {"data-key": "class" + c.name, onclick: () => go("describe", c.name)},
        state.pictures && c.rows.length > 0 && picture(c.rows[0]), make("strong", {textContent: className(c.name)}),
        make("small", {textContent: `${known(c)} of ${state.attributes.length} described, ${c.rows.length} ${c.rows.length === 1 ? "sample" : "samples"}` + (c.drafts.length > 0 ? `, ${c.drafts.length} groups to check` : "")}),
        make("progress", {max: Math.max(state.attributes.length, 1), value: known(c), "aria-label": "described", "aria-hidden": "true"})))))].filter(Boolean));
    return;
  }
  const others = state.classes.filter(o => o !== c && known(o) > 0), from = make("select", {"aria-label": "Copy the description of"}, others.map(o => make("option", {value: o.name, textContent: className(o.name)})));
  const copy = () => {
    const to = className(c.name), source = className(from.value), n = known(c);
    if (n > 0 && !confirm(`Overwrite the ${n} entries of ${to} with those of ${source}?`)) return;
    change([{class: c.name, cells: Object.fromEntries(state.attributes.map((a, m) => [a.name, find(from.value).values[m]]))}], `Copied from ${source} to ${to}.`);
  };
  const name = make("input", {value: c.name, "aria-label": "Name of the class", "data-key": "name"});
  const rename = async e => { e.preventDefault(); const to = name.value.trim(); if (await change([{class: c.name, rename: to}], "Renamed.")) go("describe", to); };
  const remove = async () => { if (await change([{class: c.name, delete: true}], "Deleted.")) { go("describe"); } };
  const checked = groups => change([{class: c.name, checked: groups}], "Checked.");
  const first = [...groupsOf().values()].findIndex(members => members.every(m => c.values[m] === null)), answered = first < 0 ? groupsOf().size : first;
  // What is empty in a group of which the class has an attribute is no, once the class is done.
  const lacking = [...groupsOf().values()].filter(members => members.some(m => c.values[m] >= .5)).flat().filter(m => c.values[m] === null);
  const finish = () => change([{class: c.name, cells: Object.fromEntries(lacking.map(m => [state.attributes[m].name, 0]))}], `${lacking.length} empty entries are no. Undo takes it back.`);
  byId("describe").replaceChildren(heading(`${className(c.name)}: ${known(c)} of ${state.attributes.length} described`),
    make("div", {className: "row"}, make("button", {textContent: "All classes", "data-key": "all", onclick: () => go("describe")}),
      make("button", {textContent: "Next class", "data-key": "next", onclick: () => go("describe", state.classes[(state.classes.indexOf(c) + 1) % state.classes.length].name)}),
      !off && lacking.length > 0 && make("button", {textContent: `Done: ${lacking.length} empty ${lacking.length === 1 ? "entry" : "entries"} of described groups: no`, "data-key": "done", onclick: finish}),
      !off && others.length > 0 && make("span", {className: "row"}, "Copy from", from, make("button", {textContent: "to " + className(c.name), "data-key": "copy", onclick: copy})),
      !off && c.rows.length === 0 && make("form", {className: "row", onsubmit: rename}, name, make("button", {textContent: "Rename"}), make("button", {type: "button", textContent: "Delete class", onclick: remove}))),
    make("p", {className: "note", textContent: first < 0 ? "" : explains(answered)}),
    make("div", {className: "beside"}, make("div", {className: "pictures"}, state.pictures && c.rows.slice(0, 8).map(row => zoom(row, c.name))),
      make("div", {}, c.drafts.length > 0 && make("p", {}, `${c.drafts.length} groups are drafts that nobody has checked. `, !off && make("button", {textContent: "Mark all as checked", onclick: () => checked(c.drafts)})),
        form(c.name, c.values, cells => change([{class: c.name, cells}]), off, c.drafts, checked, m => filledOf(c, m)))));
}

// beginning says where to start if nothing is described.
const beginning = () => state.attributes.length > 0 && !state.classes.some(c => known(c) > 0) && make("p", {id: "beginning"}, "Nothing is described yet. The fastest way is ",
  make("button", {textContent: "by attribute", onclick: () => go("attributes")}), ", for all classes at once. A table of traits fills it in: ", make("code", {textContent: `lago-train dataset describe ${state.name} --from traits.csv`}), ".");

// showAttributes asks for one group of attributes of all classes, first the groups that tell most about the others.
function showAttributes() {
  const view = byId("attributes"), off = state.read_only, groups = groupsOf();
  if (groups.size === 0) return view.replaceChildren(heading("By attribute"), make("p", {}, "There are no attributes yet: add some ", make("button", {textContent: "by class", onclick: () => go("describe")}), "."));
  const open = name => state.classes.reduce((n, c) => n + groups.get(name).filter(m => c.values[m] === null).length, 0);
  const list = [...groups.keys()].map(name => ({name, open: open(name)}));
  const group = groups.has(showAttributes.group) ? showAttributes.group : (list.find(g => g.open > 0) || list[0]).name;
  showAttributes.group = group;
  history.replaceState(null, "", address("attributes", group)); // for Back, once the group is done
  const place = list.findIndex(g => g.name === group), next = [...list.slice(place + 1), ...list].find(g => g.name !== group && g.open > 0), members = groups.get(group);
  const filter = showAttributes.filter || "all", isOpen = c => members.some(m => c.values[m] === null), isDraft = c => c.drafts.includes(group);
  const shown = state.classes.filter(c => filter === "all" || (filter === "open" ? isOpen(c) : isDraft(c))), total = state.classes.length * state.attributes.length, done = state.classes.reduce((n, c) => n + known(c), 0);
  const chooser = make("select", {"aria-label": "Group", "data-key": "group", onchange: e => go("attributes", e.target.value, true)},
    list.map(g => make("option", {value: g.name, textContent: `${groupName(g.name)} (${g.open > 0 ? g.open + " open" : "done"})`})));
  chooser.value = group;
  const filters = make("select", {"aria-label": "Classes shown", "data-key": "filter", onchange: e => { showAttributes.filter = e.target.value; show(); }},
    [["all", "all classes"], ["open", `with open entries (${state.classes.filter(isOpen).length})`], ["draft", `with drafts (${state.classes.filter(isDraft).length})`]].map(([value, textContent]) => make("option", {value, textContent})));
  filters.value = filter;
  const rest = shown.filter(isOpen), drafts = shown.filter(isDraft);
  const column = (m, i) => { // whose name fills in its open entries: those that are exceptions are then clicked
    const {name} = state.attributes[m], rest = shown.filter(c => c.values[m] === null), text = within(name, group);
    return off || rest.length === 0 || brush === null || brush === "filled" ? text : make("button", {title: `${word(brush)} for the ${rest.length} open entries`, textContent: text,
      tabIndex: -1, "data-key": "column" + name, "data-row": -1, "data-column": i, onclick: () => change(rest.map(c => ({class: c.name, cells: {[name]: brush}})))});
  };
  const entry = (c, row) => (m, i) => make("td", {}, chip("", `${className(c.name)}, ${within(state.attributes[m].name, group)}`, c.values[m], c.name + state.attributes[m].name,
    v => change([{class: c.name, cells: {[state.attributes[m].name]: v}}]), off, {tabIndex: -1, "data-row": row, "data-column": i}, filledOf(c, m)));
  const photograph = (c, row) => state.pictures && c.rows.length > 0 && zoom(c.rows[0], c.name, {tabIndex: -1, "data-row": row, "data-column": -1});
  const title = heading(`${groupName(group)}: which classes have it?`), named = {"aria-label": title.textContent}, box = make("div", {className: "table one-stop", ...(off && {tabIndex: 0, role: "group", ...named})},
    make("table", off ? {} : {role: "grid", ...named}, make("thead", {}, make("tr", {}, make("th", {scope: "col", textContent: `${shown.length} classes`}), members.map((m, i) => make("th", {scope: "col"}, column(m, i))))),
      make("tbody", {}, shown.map((c, row) => make("tr", {}, make("th", {scope: "row"}, photograph(c, row), make("span", {textContent: className(c.name)}), isDraft(c) && make("small", {className: "draft", textContent: "draft"})), members.map(entry(c, row)))))));
  view.replaceChildren(title, ...[
    make("div", {className: "row"}, chooser, next && make("button", {textContent: `Next: ${groupName(next.name)}`, "data-key": "next", onclick: () => go("attributes", next.name)}), filters,
      make("progress", {max: Math.max(total, 1), value: done, "aria-label": "described"}), make("small", {textContent: `${done} of ${total} entries`})),
    make("p", {className: "note", textContent: explains(place + 1)}), brushes(off), box,
    make("div", {className: "row end"}, !off && rest.length > 0 && make("button", {textContent: "the others: no", "data-key": "rest", onclick: () => change(rest.map(c => ({class: c.name, cells: Object.fromEntries(members.filter(m => c.values[m] === null).map(m => [state.attributes[m].name, 0]))})))}),
      takeFilled(shown, members, off, "filled"), !off && drafts.length > 0 && make("button", {textContent: `Mark ${drafts.length} ${drafts.length === 1 ? "draft" : "drafts"} as checked`, "data-key": "checked", onclick: () => change(drafts.map(c => ({class: c.name, checked: [group]})), "Checked.")}),
      next && make("button", {textContent: `Next: ${groupName(next.name)}`, "data-key": "next below", onclick: () => go("attributes", next.name)}))].filter(Boolean));
  const corner = box.querySelector("th"); // what gets the focus is beside the sticky row and column
  box.style.scrollPadding = `${corner.offsetHeight}px 0 0 ${corner.offsetWidth}px`;
  oneStop(view, ".chip");
}

// showReview lists the most doubtful entries: those that differ most from what the others of their class say. Right ones are put aside.
const right = new Set();
function showReview() {
  const off = state.read_only, drafts = expected.doubts.some(d => d.draft), title = heading("Doubtful entries");
  if (expected.version < 0) return byId("review").replaceChildren(title, make("p", {className: "note", textContent: "Comparing the entries."}));
  if (expected.order[0]?.explained === null) return byId("review").replaceChildren(title, make("p", {className: "note", textContent: expected.described < expected.least ? `Entries can be compared once ${expected.least} classes are described: ${expected.described} are.` : "The table is too large to compare its entries here."}));
  const only = make("input", {type: "checkbox", checked: !!showReview.drafts, "data-key": "drafts", onchange: e => { showReview.drafts = e.target.checked; show(); }});
  const list = expected.doubts.filter(d => find(d.class) && state.attributes.some(a => a.name === d.attribute) && (!showReview.drafts || d.draft));
  byId("review").replaceChildren(title, ...[
    make("p", {className: "note", textContent: "Entries that differ most from what all other entries of their class lead to expect, the most doubtful first." + (off ? "" : " On an entry, = says that it is right, y o s r n give another value, and ? empties it.")}),
    drafts && make("label", {}, only, " drafts only"),
    make("ul", {className: "doubts"}, list.map((d, row) => {
      const c = find(d.class), m = state.attributes.findIndex(a => a.name === d.attribute), {group} = state.attributes[m], key = d.class + "\n" + d.attribute, done = right.has(key) || c.values[m] !== d.value;
      const keep = () => { right.add(key); show(); document.querySelector(`#review [data-row="${row + 1}"]`)?.focus(); };
      const name = `${className(d.class)}, ${within(d.attribute, group)}`, entry = chip("", name, c.values[m], key, v => change([{class: d.class, cells: {[d.attribute]: v}}]), off, {"data-row": row, "data-column": 0});
      entry.right = keep;
      const said = make("span", {...(!off && {"aria-hidden": "true"})}, make("strong", {textContent: className(d.class)}), ` ${attributeName(d.attribute)}:`); // which the entry says, too
      return make("li", {className: done ? "right" : ""}, make("div", {}, state.pictures && c.rows.length > 0 && zoom(c.rows[0], c.name)), make("div", {},
        make("div", {className: "row"}, said, entry, !off && make("button", {textContent: "right", "aria-label": `${name}: ${word(c.values[m])} is right`, "data-key": key + "right", onclick: keep}),
          !off && c.drafts.includes(group) && make("button", {className: "draft", textContent: "Mark draft as checked", "aria-label": `Mark draft as checked: ${className(d.class)}, ${groupName(group)}`, "data-key": key + "checked", onclick: () => change([{class: d.class, checked: [group]}], "Checked.")})),
        make("small", {textContent: `${c.values[m] === d.value ? "" : `Was ${word(d.value)}. `}Expected about ${Math.round(100 * d.expected)} %. Similar classes: ${d.similar.map(o => `${className(o.class)} ${word(o.value)}`).join(", ")}.`})));
    }))].filter(Boolean));
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
  const question = {sample: trial.photo ? null : trial.sample, unseen: trial.unseen, remove: [...trial.remove], change};
  const found = await ask("predict", question).then(answer => ({answer, error: null}), e => ({answer: null, error: e.message}));
  if (mine !== asked) return; // a later question is open
  Object.assign(trial, found);
  if (current() !== "try") return;
  show();
  const a = found.answer, verdict = a && (a.label === null ? "" : a.label === a.predicted ? ", correct" : a.candidate ? `, wrong: ${className(a.label)} is right` : `, but ${className(a.label)} is no candidate`);
  if (found.error || byId("status").className !== "bad") say(a ? `${className(a.predicted)}, ${a.percent[0]}${verdict}` : found.error, "heard");
}
const chosen = make("input", {type: "file", accept: "image/*", onchange: () => chosen.files[0] && drop(chosen.files[0])});
async function drop(file) {
  say("Computing the features of " + file.name + ".");
  try {
    trial.photo = (await ask("photograph?name=" + encodeURIComponent(file.name), file)).name;
    if (trial.url) URL.revokeObjectURL(trial.url);
    trial.url = URL.createObjectURL(file);
    say("");
    predict();
    if (location.hash !== "#try") history.pushState(null, "", "#try");
  } catch (e) { chosen.value = ""; say(e.message, "bad"); }
}

function showTry() {
  const view = byId("try"), model = state.model;
  if (!model) {
    view.replaceChildren(heading("Try a model"), make("p", {}, "There is no model. Train one with ", make("code", {textContent: `lago-train run --dataset ${state.name}`}), ", then ", make("code", {textContent: `lago-train serve ${state.name} --model latest`}), "."));
    return;
  }
  const pick = row => go("try", row);
  const classes = state.classes.filter(c => c.rows.length > 0), shown = find(trial.class);
  const chooser = make("select", {"aria-label": "Class of the sample", "data-key": "chooser", onchange: e => e.target.value && pick(find(e.target.value).rows[0])},
    make("option", {value: "", textContent: "choose a class"}), classes.map(c => make("option", {value: c.name, textContent: className(c.name)})));
  chooser.value = trial.class || "";
  const zone = make("label", {className: "drop", ondragover: e => { e.preventDefault(); zone.classList.add("over"); }, ondragleave: () => zone.classList.remove("over"),
    ondrop: e => { e.preventDefault(); zone.classList.remove("over"); if (e.dataTransfer.files[0]) { chosen.files = e.dataTransfer.files; drop(chosen.files[0]); } }},
    "Drop a photograph or choose one: ", chosen,
    trial.photo && make("img", {src: trial.url, alt: trial.photo}));
  const samples = shown && make("div", {className: "pictures samples one-stop", role: "group", "aria-label": "Samples of " + className(shown.name)}, shown.rows.slice(0, 30).map(row =>
    make("button", {tabIndex: -1, "aria-pressed": String(!trial.photo && trial.sample === row), "data-key": "sample" + row, "aria-label": "sample " + row, onclick: () => pick(row)}, state.pictures ? picture(row) : String(row))));
  const a = trial.answer;
  const widest = a && Math.max(...a.groups.map(g => Math.abs(g.log_odds)), 1e-9);
  const bar = (name, value, text, said, className = "", signed = "", why = "") => make("div", {className: "bar " + signed}, make("span", {className}, name, why && make("small", {textContent: why})),
    make("meter", {max: 1, value, "aria-label": name, "aria-valuetext": said}), make("span", {className: "number", "aria-hidden": "true", textContent: text}));
  const part = g => {
    const text = signed(g.log_odds), against = g.log_odds < 0;
    return bar(attributeName(g.group), Math.abs(g.log_odds) / widest, text, `${text}, favours ${className(against ? a.against : a.predicted)}`, against ? "against" : "", against ? "signed left" : "signed", g.reason);
  };
  const result = a ? make("div", {},
    make("h3", {textContent: `Most likely of ${a.classes} ${trial.unseen ? "unseen " : ""}classes: ${className(a.predicted)}` + (a.label === null ? "" : a.label === a.predicted ? " (correct)" : ` (true class: ${className(a.label)})`)}),
    a.bare > 0 && make("p", {className: "note", textContent: a.bare === 1 ? "1 class is not described yet, and no candidate." : `${a.bare} classes are not described yet, and no candidates.`}),
    a.label !== null && !a.candidate && make("p", {className: "note", textContent: `The true class is no candidate${trial.unseen && find(a.label)?.trained ? ", since the model was trained on it: clear “only classes that the model was not trained on” to include it." : ". Choose it below Candidates, or describe it."}`}),
    make("p", {id: "sentence", textContent: a.sentence}),
    a.zero && make("p", {className: "against", textContent: "The features of this sample are all 0: its prediction says nothing."}),
    a.given && make("p", {className: "note", textContent: a.given}),
    a.fit_sentence && make("p", {id: "fit", textContent: a.fit_sentence}),
    a.likely.map((l, i) => bar(className(l.class), l.p, a.percent[i], a.percent[i])),
    make("h3", {textContent: `Groups: ${className(a.predicted)} over ${className(a.against)}, log odds ${signed(a.log_odds)}`}),
    a.groups.map(part))
    : make("p", {className: trial.error ? "against" : "note", textContent: trial.error || "Choose a sample or a photograph."});
  const names = [...state.classes.map(c => c.name), ...[...trial.change.keys()].filter(name => !find(name))];
  const candidates = names.filter(n => !trial.unseen || !find(n)?.trained);
  const edited = trial.edit && (find(trial.edit) || {name: trial.edit, values: state.attributes.map(() => null)});
  const editor = make("select", {"aria-label": "Class to change", "data-key": "editor", onchange: e => { trial.edit = e.target.value; show(); }},
    make("option", {value: "", textContent: "choose a class"}), names.map(n => make("option", {value: n, textContent: className(n)})));
  editor.value = trial.edit || "";
  const fresh = make("input", {placeholder: "new class", "aria-label": "Name of a class to try"});
  const tried = trial.edit && trial.change.has(trial.edit);
  const keep = async () => {
    if (await change([{class: trial.edit, new: !find(trial.edit), cells: trial.change.get(trial.edit)}], className(trial.edit) + " is in classes.csv. To predict with it: " + model.predict)) { trial.change.delete(trial.edit); predict(); show(); }
  };
  view.replaceChildren(heading("Try the model"),
    make("p", {className: "note", textContent: `Model: ${model.label}.` + (model.unknown.length > 0 ? ` It does not know ${model.unknown.length} of the attributes, which have no effect until it is trained again.` : "")}),
    make("div", {className: "columns"},
      make("div", {}, make("div", {className: "row"}, chooser), samples, model.network ? zone : make("p", {className: "note", textContent: "With --weights FILE, photographs can be predicted."}), result),
      make("div", {}, make("h3", {textContent: "What if"}),
        make("label", {}, make("input", {type: "checkbox", checked: trial.unseen, onchange: e => { trial.unseen = e.target.checked; predict(); }}), " only classes that the model was not trained on"),
        make("details", {open: !!trial.listed, ontoggle: e => { trial.listed = e.target.open; }}, make("summary", {textContent: `Candidates (${candidates.filter(n => !trial.remove.has(n)).length})`}),
          make("div", {className: "list"}, candidates.map(n => make("label", {}, make("input", {type: "checkbox", checked: !trial.remove.has(n), "data-key": "candidate" + n,
            onchange: e => { e.target.checked ? trial.remove.delete(n) : trial.remove.add(n); predict(); }}), " " + className(n))))),
        make("form", {className: "row", onsubmit: e => { e.preventDefault(); const n = fresh.value.trim(), same = names.find(o => className(o).toLowerCase() === className(n).toLowerCase());
          if (same) say(`There is ${same}: choose it to change it.`, "bad"); else if (n) { trial.change.set(n, {}); trial.edit = n; show(); } }}, fresh, make("button", {textContent: "Add for now"})),
        make("div", {className: "row"}, "Change the description of", editor, tried && !state.read_only && make("button", {textContent: "Keep", onclick: keep}),
          tried && make("button", {textContent: "Forget", onclick: () => { trial.change.delete(trial.edit); if (!find(trial.edit)) trial.edit = null; predict(); show(); }})),
        edited && make("p", {className: "note", textContent: tried && !state.read_only ? "These changes are only tried. Keep writes them to classes.csv." : "Changes here are only tried."}),
        edited && form(edited.name, valuesOf(edited), cells => { trial.change.set(edited.name, {...trial.change.get(edited.name), ...cells}); predict(); show(); }, false))));
  oneStop(view, "[aria-pressed=true], button");
}

async function showCheck() {
  let f;
  const title = heading("Check of the descriptions");
  if (!byId("check").firstChild) byId("check").replaceChildren(title);
  try { f = await ask("check"); } catch (e) { return say(e.message, "bad"); }
  if (current() !== "check") return;
  const focused = byId("check").contains(document.activeElement);
  const link = name => make("button", {textContent: className(name), onclick: () => go("describe", name)});
  const side = name => make("div", {}, link(name), state.pictures && make("div", {className: "pictures"}, (find(name)?.rows || []).slice(0, 3).map(row => zoom(row, name))));
  const byGroup = names => [...Map.groupBy(names, name => state.attributes.find(a => a.name === name).group)].map(([group, members]) =>
    make("p", {}, group !== "" && make("strong", {textContent: spaced(group.replace(/^has_/, "")) + ": "}), members.map(name => within(name, group)).join(", ")));
  if (!state.classes.some(c => known(c) > 0)) return byId("check").replaceChildren(title, beginning() || make("p", {textContent: "There are no attributes yet. The view by class adds some."}));
  byId("check").replaceChildren(title, ...[
    make("h3", {textContent: `Pairs of classes that the descriptions hardly distinguish (${f.number})`}),
    f.pairs.length > 0 && make("p", {className: "note", textContent: "The percentage is the share of the two classes' samples that even perfect detectors may confuse."}),
    f.separating !== "" && make("p", {}, `Fill in first: ${attributeName(f.separating)}; pairs that lack it: ${f.of}.`),
    ...f.pairs.map((p, i) => make("div", {className: "pair"}, make("div", {className: "columns"}, side(p.a), side(p.b)),
      make("p", {textContent: `Up to ${f.percent[i]} would be confused even by perfect detectors. ` + (p.differ.length > 0 ? "They differ most in " + p.differ.map(attributeName).join(", ") + ". " : "They differ in nothing that is described. ") +
        (p.missing.length > 0 ? "Not described for one or both: " + p.missing.map(attributeName).join(", ") + "." : "Another attribute on which they differ would separate them.")}))),
    make("h3", {textContent: `Attributes that are the same for all classes (${f.constant.length})`}), ...byGroup(f.constant),
    make("h3", {textContent: `Classes with empty cells (${f.missing.classes.length})`}), make("div", {className: "row"}, f.missing.classes.map(c => make("span", {}, link(c.name), ` ${c.entries} empty`)))].filter(Boolean));
  if (focused) focusHeading();
}

all.forEach(id => byId("tab-" + id).addEventListener("click", () => { route.place = ""; go(id); }));
document.querySelector("nav").addEventListener("keydown", e => {
  const step = {ArrowRight: 1, ArrowLeft: all.length - 1}[e.key];
  if (step) { const id = all[(all.indexOf(current()) + step) % all.length]; go(id, undefined, true); byId("tab-" + id).focus(); }
});
byId("undo").addEventListener("click", undo);
byId("large").addEventListener("click", () => byId("large").close());
addEventListener("hashchange", () => { say(""); route(); }); // Back is an action, too
new ResizeObserver(() => document.documentElement.style.setProperty("--header", byId("header").offsetHeight + "px")).observe(byId("header"));
ask("state").then(s => { state = s; route(); update(s); }, e => say(e.message, "bad"));
