// Tables are sorted by their headings, and long ones filtered. Without a script they read as they are.
const LONG = 10;

function value(row, place) {
  const text = row.cells[place].firstChild?.textContent.trim() ?? "";
  const number = text.replace("−", "-").replace(/[,%×<>\s]/g, "");
  return number === "" || number === "–" ? null : isNaN(number) ? text : Number(number);
}

// Smallest first; what has no value stands last in both orders.
function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === typeof b && typeof a === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

function sort(rows, body, heads, place) {
  const before = heads[place].getAttribute("aria-sort");
  // Numbers are looked at from the largest, names from A.
  const first = heads[place].classList.contains("n") ? "descending" : "ascending";
  const other = { ascending: "descending", descending: "ascending" };
  const order = before ? other[before] : first;
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[place].setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  body.append(...rows.sort((a, b) => compare(value(a, place), value(b, place), sign)));
}

function addFilter(table, rows) {
  const field = Object.assign(document.createElement("input"), { type: "search" });
  const count = document.createElement("output");
  const label = document.createElement("label");
  const line = Object.assign(document.createElement("p"), { className: "filter" });
  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const named = [...row.cells].filter((cell) => !cell.classList.contains("n"));
      const text = named.map((cell) => cell.textContent.toLowerCase()).join(" ");
      row.hidden = !words.every((word) => text.includes(word));
    }
    count.value = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  label.append("Filter ", field);
  line.append(label, " ", count);
  table.parentElement.before(line);
  field.addEventListener("input", show);
  show();
}

for (const table of document.querySelectorAll(".scroll > table")) {
  const rows = [...table.tBodies[0].rows];
  const heads = [...table.tHead.rows[0].cells];
  if (rows.length < 3) continue;
  heads.forEach((head, place) => {
    const button = Object.assign(document.createElement("button"), { type: "button" });
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(rows, table.tBodies[0], heads, place));
    head.append(button);
  });
  if (rows.length >= LONG) addFilter(table, rows);
}

// A link to a section, or to a part of it, opens the section.
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const section = target?.querySelector(":scope > details") ?? target?.closest("details");
  section?.setAttribute("open", "");
}
addEventListener("hashchange", openTarget);
openTarget();
