for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a, column), key(b, column)];
      return x !== "" && y !== "" && !isNaN(x) && !isNaN(y) ? x - y : x.localeCompare(y, undefined, {numeric: true});
    });
    body.append(...(down ? rows.reverse() : rows));
  }));
}
for (const figure of document.querySelectorAll(".compare")) {
  const stack = figure.querySelector(".stack"), range = figure.querySelector("input");
  const show = () => stack.style.setProperty("--cut", range.value + "%");
  range.addEventListener("input", show);
  const drag = (event) => {
    const box = stack.getBoundingClientRect();
    range.value = Math.round(100 * (event.clientX - box.left) / box.width);
    show();
  };
  stack.addEventListener("pointerdown", (event) => { stack.setPointerCapture(event.pointerId); drag(event); });
  stack.addEventListener("pointermove", (event) => { if (stack.hasPointerCapture(event.pointerId)) drag(event); });
  stack.addEventListener("dragstart", (event) => event.preventDefault());
  show();
}
