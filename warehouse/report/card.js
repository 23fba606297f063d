"use strict";
// Copies texts, and cards as pictures. Without it, texts can be selected, and all links work.
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

async function draw(card) {
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
  const words = (part) => card.querySelector(part).innerText.replace(/\s+/g, " ").trim();
  write(words(".title"), 70, "600 36px", "ink");
  write(words(".who"), 104, "20px", "muted");
  write(`${document.body.dataset.origin} · #${card.dataset.origin}`, HEIGHT - 16, "15px", "muted");
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
  const curve = [...card.querySelectorAll(".curve")].at(-1);
  for (const area of curve.querySelectorAll("polygon")) {
    trace(area);
    pen.fillStyle = colour(area.getAttribute("class"));
    pen.fill();
  }
  pen.strokeStyle = colour("muted");
  pen.strokeRect(EDGE, (top + BASE) / 2, wide, 0);
  trace(curve.querySelector("polyline"));
  pen.strokeStyle = colour("ink");
  pen.lineWidth = 3;
  pen.stroke();
  const ends = [top + 14, (top + BASE) / 2 - 6, BASE];
  curve.querySelectorAll("span").forEach((end, place) => {
    write(end.textContent, ends[place], "15px", "muted");
  });
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

for (const button of document.querySelectorAll("[data-picture]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const picture = await draw(button.closest(".card"));
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

// A slider below a large card shows the scores at a stage, and where it is on the curve.
for (const box of document.querySelectorAll(".scrubbed")) {
  const numbers = (name) => box.dataset[name].split(",").map(Number);
  const [t, factual, changed] = ["t", "factual", "changed"].map(numbers);
  const curve = box.querySelector(".curve");
  const places = [...curve.querySelector("polyline").points].map((point) => point.x);
  const cursor = Object.assign(document.createElement("i"), { className: "cursor" });
  const line = Object.assign(document.createElement("label"), { className: "scrub" });
  const slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: t.length - 1, value: t.length - 1 });
  const words = document.createElement("span");
  const text = (value) => value.toFixed(3).replace("-", "−");
  const show = () => {
    const at = Number(slider.value);
    const response = factual[at] - changed[at];
    cursor.style.left = `${places[at]}%`;
    words.textContent = `t = ${Number(t[at].toFixed(3))}: factual ${text(factual[at])}, changed ${text(changed[at])}, response ${response > 0 ? "+" : ""}${text(response)}`;
  };
  line.append("Stage ", slider, words);
  curve.append(cursor);
  box.querySelector(".card").append(line);
  slider.addEventListener("input", show);
  show();
}
