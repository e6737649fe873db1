"use strict";
const form = document.querySelector(".filter"), list = document.querySelector(".cards"), dialog = document.querySelector("dialog");
const cards = [...list.children], field = form.elements;
let of = ""; // true class that a cell of the confusion matrix asks for
function show() {
  const text = field.text.value.toLowerCase(), wanted = field.class.value, state = field.state.value;
  for (const c of cards) {
    c.hidden = wanted && c.dataset.class != wanted || of && c.dataset.true != of || !c.dataset.state.includes(state) || !c.textContent.toLowerCase().includes(text);
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
list.addEventListener("click", e => {
  if (e.target.tagName != "IMG") return;
  const large = document.createElement("div");
  large.append(...e.target.closest("li").cloneNode(true).childNodes);
  large.querySelector("img").loading = "eager";
  dialog.replaceChildren(dialog.firstElementChild, large);
  dialog.showModal();
});
dialog.addEventListener("click", e => e.target == dialog && dialog.close());
show();
