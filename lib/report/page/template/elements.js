// Makes HTML and SVG. Texts come in through textContent alone, so that none is taken for markup.

function make(name, attributes, ...children) {
  return fillElement(document.createElement(name), attributes, children);
}

function svg(name, attributes, ...children) {
  return fillElement(
      document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fillElement(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function")
      element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

function table(columns, rows, caption) {
  const line = (cells, kind) => make(
      "tr", {},
      cells.map(
          (cell, i) => make(
              i === 0 && kind === "td" ? "th" : kind,
              {scope: kind === "th" ? "col" :
                   i === 0          ? "row" :
                                      null},
              cell === null || cell === undefined ? kUnknown : cell)));
  return make(
      "div", {class: "scroll"},
      make(
          "table", {}, caption ? make("caption", {}, caption) : null,
          make("thead", {}, line(columns, "th")),
          make("tbody", {}, rows.map((row) => line(row, "td")))));
}

// The table behind a chart, which is made when somebody opens it.
function dataTable(source) {
  const details = make("details", {class: "data"}, make("summary", {}, "Data as a table"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const {columns, rows} = source();
    details.append(table(columns, rows));
  });
  return details;
}

// `groups` are words, each with a colour of its own in the style (--c-WORD).
function colourOf(word) { return `var(--c-${word.replace(/[^a-z]+/g, "-")}, var(--c-other))`; }

function legend(entries) {
  return make(
      "ul", {class: "legend"},
      entries.map(
          ([name, style]) =>
              make("li", {}, make("span", {class: "swatch", style: `background:${style}`}), name)));
}

function choice(label, options, chosen, change) {
  const select = make(
      "select", {change: () => change(select.value)},
      options.map(
          ([value, text]) =>
              make("option", {value, selected: value === chosen ? "" : null}, text)));
  return make("label", {}, label + " ", select);
}

function note(text) { return make("p", {class: "note"}, text); }
