// What makes the page of an answer searchable and sortable. Without it the page is complete: the
// controls stay hidden and headings are plain text. Everything it needs is in the markup, and it
// writes text only, never markup.
"use strict";
(() => {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const grouped = new Intl.NumberFormat("en");

  // Hides the items whose text lacks what is typed, and says how many are left.
  function searchable(name, noun, items) {
    const input = document.getElementById(`${name}-search`);
    const said = document.getElementById(`${name}-count`);
    const search = () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const { element, text } of items) {
        const found = text.includes(wanted);
        element.classList.toggle("filtered", !found);
        shown += found ? 1 : 0;
      }
      said.textContent = `${grouped.format(shown)} of ${grouped.format(items.length)} ${noun}`;
    };
    input.addEventListener("input", search);
    input.closest(".controls").hidden = false;
    search();
  }

  function topics(list) {
    const cards = [...list.children];
    const members = (card) => [...card.querySelectorAll("tbody td:first-child")];
    const text = (card) =>
      [card.dataset.name, card.dataset.also, ...members(card).map((cell) => cell.textContent)]
        .join("\n")
        .toLowerCase();
    searchable("topic", "topics", cards.map((element) => ({ element, text: text(element) })));

    const orders = {
      found: () => 0,
      name: (a, b) => collator.compare(a.dataset.name, b.dataset.name),
      weight: (a, b) => Number(b.dataset.weight) - Number(a.dataset.weight),
      coherence: (a, b) => Number(b.dataset.coherence) - Number(a.dataset.coherence),
      row: (a, b) => Number(a.dataset.row) - Number(b.dataset.row),
    };
    const select = document.getElementById("topic-sort");
    const sort = () => list.append(...[...cards].sort(orders[select.value] || orders.found));
    select.addEventListener("change", sort);
    // A browser may have kept the choice over a reload.
    if (select.value !== "found") sort();
  }

  function rows(table) {
    const body = table.tBodies[0];
    const all = [...body.rows];
    const text = (row) =>
      [...row.querySelectorAll(".words")].map((cell) => cell.textContent).join("\n").toLowerCase();
    searchable("row", "rows", all.map((element) => ({ element, text: text(element) })));

    const heads = [...table.tHead.rows[0].cells];
    const compare = (column) => (a, b) => {
      const [x, y] = [a.cells[column], b.cells[column]];
      return "value" in x.dataset
        ? Number(x.dataset.value) - Number(y.dataset.value)
        : collator.compare(x.textContent, y.textContent);
    };
    const sort = (head, column) => {
      const turned = { ascending: "descending", descending: "ascending" };
      const order = turned[head.getAttribute("aria-sort")] || head.dataset.first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const by = compare(column);
      body.append(...[...all].sort((a, b) => sign * by(a, b)));
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => sort(head, column));
      head.replaceChildren(button);
    });
  }

  const list = document.querySelector(".topics");
  const table = document.getElementById("rows");
  if (list) topics(list);
  if (table) rows(table);
})();
