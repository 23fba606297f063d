"use strict";
// Copies texts and moves through a page by keys. Without it, texts can be selected and all links work.
for (const button of document.querySelectorAll("[data-copy]")) {
  const words = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "copied";
    } catch {
      button.textContent = "select and copy";
    }
    setTimeout(() => { button.textContent = words; }, 1400);
  });
}

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
