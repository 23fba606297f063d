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

// A card as a picture of 1200 by 630 px, for a message or a slide.
const WIDTH = 1200, HEIGHT = 630, EDGE = 48, TOP = 128, BASE = 572, MOST_FILM = 280;

async function draw(card, words) {
  const canvas = Object.assign(document.createElement("canvas"), { width: WIDTH, height: HEIGHT });
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(card);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const write = (text, y, font, name) => {
    pen.font = `${font} sans-serif`;
    pen.fillStyle = colour(name);
    pen.fillText(text, EDGE, y, WIDTH - 2 * EDGE);
  };
  pen.fillStyle = colour("card");
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  write(words.title, 70, "600 36px", "ink");
  write(words.subject, 104, "20px", "muted");
  write(words.origin, HEIGHT - 16, "15px", "muted");
  const film = card.querySelector(".film img");
  const shape = film ? film.naturalWidth / film.naturalHeight : Infinity;
  const wide = Math.min(WIDTH - 2 * EDGE, MOST_FILM * shape);
  const height = wide / shape;
  if (film) {
    pen.imageSmoothingEnabled = false;
    pen.drawImage(film, EDGE, TOP, wide, height);
  }
  const top = TOP + height + 16;
  const trace = (line) => {
    pen.beginPath();
    for (const { x, y } of line.points) {
      pen.lineTo(EDGE + x / 100 * wide, top + y / 100 * (BASE - top));
    }
  };
  for (const area of card.querySelectorAll(".curve polygon")) {
    trace(area);
    pen.fillStyle = colour(area.getAttribute("class"));
    pen.fill();
  }
  pen.strokeStyle = colour("muted");
  pen.strokeRect(EDGE, (top + BASE) / 2, wide, 0);
  trace(card.querySelector(".curve polyline"));
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 3;
  pen.stroke();
  const ends = [top + 14, (top + BASE) / 2 - 6, BASE];
  card.querySelectorAll(".curve span").forEach((end, place) => {
    write(end.textContent, ends[place], "15px", "muted");
  });
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

for (const button of document.querySelectorAll("[data-picture]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const picture = await draw(document.querySelector(".card"), button.dataset);
    try {
      await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
      button.textContent = "copied";
    } catch {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(picture);
      link.download = "decaf.png";
      link.click();
      button.textContent = "saved";
    }
    setTimeout(() => { button.textContent = "Picture"; }, 1400);
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
