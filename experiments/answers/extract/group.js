"use strict";
const quote = text => /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
function rows() {
  const list = [];
  for (const section of document.querySelectorAll("section")) {
    const name = section.querySelector("input").value.trim();
    for (const image of name ? section.querySelectorAll("img:not(.out)") : []) list.push([image.alt, name]);
  }
  return list;
}
function count() {
  const list = rows();
  document.querySelector("output").textContent = `${list.length} photographs of ${new Set(list.map(row => row[1])).size} classes`;
}
document.addEventListener("input", count);
document.addEventListener("click", e => { if (e.target.matches("section img")) { e.target.classList.toggle("out"); count(); } });
document.querySelector("form").addEventListener("submit", e => e.preventDefault());
document.querySelector("form button").addEventListener("click", () => {
  const link = document.createElement("a"), text = [["path", "class"], ...rows()].map(row => row.map(quote).join(",") + "\n").join("");
  link.href = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
  link.download = "list.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
});
count();
