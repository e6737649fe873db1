"use strict";
const form = document.querySelector(".filter"), list = document.querySelector(".cards"), dialog = document.querySelector("dialog");
const cards = [...list.children], field = form.elements;
function show() {
  const text = field.text.value.toLowerCase(), wanted = field.class.value, state = field.state.value;
  for (const c of cards) {
    c.hidden = wanted && c.dataset.class != wanted || state && !c.classList.contains(state) || !c.textContent.toLowerCase().includes(text);
  }
  form.querySelector("output").textContent = `${cards.filter(c => !c.hidden).length} of ${cards.length}`;
  list.append(...(field.order.value ? cards.toSorted((a, b) => a.dataset.class < b.dataset.class ? -1 : a.dataset.class > b.dataset.class ? 1 : 0) : cards));
}
form.hidden = false;
form.addEventListener("submit", e => e.preventDefault());
form.addEventListener("input", show);
form.addEventListener("reset", () => setTimeout(show));
// A card opens large.
function enlarge(card) {
  const large = document.createElement("div");
  large.append(...card.cloneNode(true).childNodes);
  large.querySelector("img")?.setAttribute("loading", "eager");
  dialog.children[1].replaceWith(large);
  dialog.showModal();
}
list.addEventListener("click", e => e.target.closest("li") && enlarge(e.target.closest("li")));
list.addEventListener("keydown", e => e.key == "Enter" && e.target.matches("li") && enlarge(e.target));
dialog.addEventListener("click", e => e.target == dialog && dialog.close());
show();
