// Moves through a page by keys, and closes menus.
addEventListener("keydown", (event) => {
  const field = document.querySelector("input[type=search]");
  if (event.key === "/" && field && !event.target.closest("input")) {
    field.focus();
    event.preventDefault();
  }
  if (event.key === "Escape") {
    document.querySelectorAll(".menu[open]").forEach((menu) => { menu.open = false; });
  }
});

addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
