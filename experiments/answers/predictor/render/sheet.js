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
  stop(list.querySelector("li:not([hidden]) button"));
}
form.hidden = false;
form.addEventListener("submit", e => e.preventDefault());
form.addEventListener("input", show);
form.addEventListener("reset", () => setTimeout(show));
// Pictures are loaded when they come near the window, and all of them to be printed.
function load(card) {
  const image = card.querySelector("img[data-src]");
  if (!image) return;
  image.src = image.dataset.src;
  image.removeAttribute("data-src");
  near.unobserve(card);
}
const near = new IntersectionObserver(list => list.filter(e => e.isIntersecting).forEach(e => load(e.target)), {rootMargin: "500px"});
cards.forEach(c => near.observe(c));
addEventListener("beforeprint", () => cards.forEach(load));
// The cards are one stop of the keyboard, with arrows.
list.addEventListener("keydown", e => {
  const shown = [...list.querySelectorAll("li:not([hidden]) button")], at = shown.indexOf(e.target);
  const columns = getComputedStyle(list).gridTemplateColumns.split(" ").length;
  const to = {ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns, ArrowUp: at - columns, Home: 0, End: shown.length - 1}[e.key];
  if (to === undefined) return;
  e.preventDefault();
  shown[to]?.focus();
});
list.addEventListener("focusin", e => stop(e.target.closest("button")));
function stop(button) {
  for (const other of list.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
  if (button) button.tabIndex = 0;
}
// A card opens large.
function enlarge(card) {
  load(card);
  const large = document.createElement("div");
  large.className = card.className;
  large.append(...card.firstChild.cloneNode(true).childNodes);
  dialog.children[1].replaceWith(large);
  dialog.showModal();
}
list.addEventListener("click", e => e.target.closest("li") && enlarge(e.target.closest("li")));
dialog.addEventListener("click", e => e.target == dialog && dialog.close());
cards.forEach(c => c.firstChild.tabIndex = -1);
new ResizeObserver(() => document.documentElement.style.setProperty("--filter", (getComputedStyle(form).position == "sticky" ? form.offsetHeight : 0) + "px")).observe(form);
show();
