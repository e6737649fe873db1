"use strict";
const form = document.querySelector(".filter"), list = document.querySelector(".cards"), dialog = document.querySelector("dialog");
const cards = [...list.children], field = form.elements;
let of = ""; // true class that a cell of the confusion matrix asks for
function show() {
  const text = field.text.value.toLowerCase(), wanted = field.class.value, state = field.state.value;
  for (const c of cards) {
    c.hidden = wanted && c.dataset.class != wanted || of && c.dataset.true != of || state && !c.classList.contains(state) || !c.textContent.toLowerCase().includes(text);
  }
  form.querySelector("output").textContent = `${cards.filter(c => !c.hidden).length} of ${cards.length}` + (of ? `, true class ${of}` : "");
  list.append(...(field.order.value ? cards.toSorted((a, b) => a.dataset.class < b.dataset.class ? -1 : a.dataset.class > b.dataset.class ? 1 : 0) : cards));
}
form.hidden = false;
form.addEventListener("submit", e => e.preventDefault());
form.addEventListener("input", () => { of = ""; show(); });
form.addEventListener("reset", () => setTimeout(() => { of = ""; show(); }));
for (const b of document.querySelectorAll(".confusion button")) {
  b.addEventListener("click", () => { form.reset(); setTimeout(() => { field.class.value = b.dataset.class; of = b.dataset.true; show(); scrollTo(0, 0); }); });
}
// A card opens large. There the right class of a wrong one is given.
const correct = document.querySelector(".correct"), save = document.querySelector(".export");
let current = null;
function enlarge(card) {
  current = card;
  const large = document.createElement("div");
  large.append(...card.cloneNode(true).childNodes);
  large.querySelector("img")?.setAttribute("loading", "eager");
  dialog.children[1].replaceWith(large);
  correct.elements.class.value = card.dataset.correct || "";
  dialog.showModal();
}
list.addEventListener("click", e => e.target.closest("li") && enlarge(e.target.closest("li")));
list.addEventListener("keydown", e => e.key == "Enter" && e.target.matches("li") && enlarge(e.target));
function mark(card, name) {
  const text = card.querySelector(".corrected");
  if (name) card.dataset.correct = name; else delete card.dataset.correct;
  text.hidden = !name;
  text.textContent = "marked as wrong: " + name;
  const n = cards.filter(c => c.dataset.correct).length;
  save.hidden = n == 0;
  save.textContent = `Save labels.csv (${n} corrected)`;
}
correct.addEventListener("submit", e => { e.preventDefault(); mark(current, correct.elements.class.value.trim()); dialog.close(); });
correct.addEventListener("reset", () => { mark(current, ""); dialog.close(); });

// labels is labels.csv of the samples, in their order: the corrected class, otherwise the true one or, if it is not known, the predicted one.
function labels() {
  const quote = text => /[",\r\n]|^\s|\s$/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text, ids = cards.some(c => c.dataset.id);
  const rows = cards.toSorted((a, b) => a.dataset.index - b.dataset.index).map(({dataset: d}) => [d.correct || d.true || d.class, ...(ids ? [d.id] : [])]);
  return [["class", ...(ids ? ["id"] : [])], ...rows].map(row => row.map(quote).join(",") + "\n").join("");
}
save.addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([labels()], {type: "text/csv"}));
  link.download = "labels.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
});
dialog.addEventListener("click", e => e.target == dialog && dialog.close());
show();
