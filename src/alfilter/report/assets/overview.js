for (const versus of document.querySelectorAll(".versus")) {
  const stack = versus.querySelector(".stack"), range = versus.querySelector("input");
  const panes = [...stack.querySelectorAll("figure")], [left, right] = versus.querySelectorAll("select");
  const show = () => {
    panes.forEach((pane, k) => {
      pane.classList.toggle("left", String(k) === left.value);
      pane.classList.toggle("right", String(k) === right.value && left.value !== right.value);
    });
    stack.style.setProperty("--cut", range.value + "%");
  };
  const drag = (event) => {
    const box = stack.getBoundingClientRect();
    range.value = Math.round(100 * (event.clientX - box.left) / box.width);
    show();
  };
  for (const part of [left, right, range]) part.addEventListener("input", show);
  stack.addEventListener("pointerdown", (event) => { stack.setPointerCapture(event.pointerId); drag(event); });
  stack.addEventListener("pointermove", (event) => { if (stack.hasPointerCapture(event.pointerId)) drag(event); });
  show();
}
