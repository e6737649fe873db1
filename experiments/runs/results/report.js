// Tables are sorted by the buttons in their headers.
for (const table of document.querySelectorAll("main table")) {
  const body = table.tBodies[0], head = table.tHead?.rows[table.tHead.rows.length - 1];
  if (!head || !body || body.rows.length < 2) continue;
  [...head.cells].forEach((th, column) => {
    if (!th.textContent.trim()) return;
    const text = row => row.cells[column]?.textContent.trim() ?? "", number = row => parseFloat(text(row));
    const filled = [...body.rows].filter(row => !["", "-"].includes(text(row)));
    const numeric = filled.length > 0 && filled.every(row => !isNaN(number(row)));
    const button = document.createElement("button");
    button.append(...th.childNodes);
    button.onclick = () => {
      const before = th.getAttribute("aria-sort"), up = before ? before == "descending" : !numeric, sign = up ? 1 : -1;
      for (const other of head.cells) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      const empty = row => !filled.includes(row);
      body.append(...[...body.rows].sort((a, b) => empty(a) - empty(b) ||
        sign * (numeric ? number(a) - number(b) : text(a).localeCompare(text(b), "en", {numeric: true}))));
    };
    th.append(button);
  });
}
// What is wider than the window is scrolled by keys, too.
for (const box of document.querySelectorAll(".wide, figure")) new ResizeObserver(() => {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
}).observe(box);
