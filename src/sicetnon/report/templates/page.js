"use strict";
// The page is whole without this script. It adds sorting, a button that opens all topics, marks on
// the same document in other runs, and the words of a bar or a cell by arrow keys or by touch.
(() => {
  const valueOf = (cell) => {
    const text = cell.dataset.v ?? cell.textContent.trim();
    const number = Number(text);
    return text === "" || text === "–" ? null : Number.isNaN(number) ? text : number;
  };

  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });

  const sort = (table, column, falling) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
    rows.sort(([a], [b]) => {
      // what has no value stays last, whichever way the others go
      if (a === null || b === null) return (a === null) - (b === null);
      return falling ? compare(b, a) : compare(a, b);
    });
    body.append(...rows.map(([, row]) => row));
  };

  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (head.classList.contains("bars")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        // scores are wanted greatest first, names and places in their own order
        const falling = before ? before === "ascending" : head.classList.contains("n") && column > 0;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        sort(table, column, falling);
      });
    });
  }

  const blocks = [...document.querySelectorAll("details.topic")];
  if (blocks.length > 1) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "all";
    const show = () => {
      button.textContent = blocks.every((block) => block.open) ? "Close all" : "Open all";
    };
    button.addEventListener("click", () => {
      const open = !blocks.every((block) => block.open);
      for (const block of blocks) block.open = open;
      show();
    });
    show();
    blocks[0].parentElement.before(button);
  }

  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    const block = target?.closest("details");
    if (!block) return;
    block.open = true;
    block.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  const mark = (event) => {
    const item = event.target.closest?.("li[data-d]");
    const side = event.target.closest?.(".side");
    if (!side) return;
    for (const other of side.querySelectorAll("li[data-d]")) {
      other.classList.toggle("same", !!item && other.dataset.d === item.dataset.d);
    }
  };
  document.addEventListener("mouseover", mark);

  const said = document.createElement("output");
  said.className = "said";
  document.body.append(said);
  const say = (part) => {
    document.querySelector(".here")?.classList.remove("here");
    part?.classList.add("here");
    part?.scrollIntoView({ block: "nearest", inline: "nearest" });
    said.textContent = part?.querySelector("title").textContent ?? "";
  };
  const keys = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  for (const picture of document.querySelectorAll("figure svg")) {
    const parts = [...picture.querySelectorAll(".part")];
    const columns = Number(picture.dataset.columns ?? parts.length);
    picture.tabIndex = 0;
    picture.addEventListener("click", (event) => say(event.target.closest(".part")));
    picture.addEventListener("blur", () => say());
    picture.addEventListener("keydown", (event) => {
      if (event.key === "Escape") say();
      const [across, down] = keys[event.key] ?? [];
      if (across === undefined) return;
      event.preventDefault();
      const here = parts.findIndex((part) => part.classList.contains("here"));
      const next = here < 0 ? parts[0] : parts[here + across + down * columns];
      if (next) say(next);
    });
  }
})();
