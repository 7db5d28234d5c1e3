// The plan as a picture: what it says of the activations, parameters, gradients and optimizer state
// of each layer, coloured by where they lie.

const kKinds = {
  activations: "activations",
  parameters: "parameters",
  gradients: "gradients",
  optimizer: "optimizer state",
  update: "updated by",
  shard: "shared out"
};
const kPolicyLetters = {
  keep: "K",
  light: "k",
  recompute: "R",
  host: "H",
  nvme: "N",
  "light+host": "h",
  "light+nvme": "n",
  "recompute+host": "M",
  "recompute+nvme": "S",
  device: "D",
  optimizer: "o",
  gradients: "g",
  all: "a",
  none: "-"
};

// What ranks share out, which only the row of that has.
const kShared = ["optimizer", "gradients", "all"];

function nameOf(value) { return kShared.includes(value) ? `shared out: ${value}` : value; }

function letterOf(value) { return kPolicyLetters[value.split(":")[0]] ?? "?"; }

// The colour of a cell: of the tier where things lie, or of what is done instead.
function cellStyle(value) {
  if (kShared.includes(value)) return ["shared", null];
  const words = value.split(":")[0].split("+");
  const tier = words.find((word) => ["device", "host", "nvme"].includes(word));
  if (words[0] === "recompute") return ["recompute", tier];
  if (words[0] === "light") return ["light", tier];
  return [tier || words[0], null];
}

class Picture {
  constructor(host, run, plan) {
    Object.assign(this, {run, plan, at: null});
    this.rows = plan.rows.filter(
        (row) => kKinds[row.key] &&
            !(row.key === "shard" && row.cells.every((cell) => cell === "none" || cell === "")));
    this.readout = make("div", {class: "readout", "aria-live": "polite"});
    this.surface = svg("svg", {
      class: "chart",
      tabindex: 0,
      role: "img",
      "aria-label": `The plan, ${plan.columns.length} chunks and layers. ${
          this.summary()} Arrow keys walk over it.`
    });
    this.surface.addEventListener("keydown", (event) => this.press(event));
    const figure = make(
        "figure", {}, make("figcaption", {}, this.title()), this.readout, this.surface,
        legend(this.values().map(
            (value) => [`${letterOf(value)} ${nameOf(value)}`, this.swatch(value)])),
        dataTable(() => this.table()));
    host.append(figure);
    this.draw();
    new ResizeObserver(() => this.surface.clientWidth !== this.width && this.draw())
        .observe(figure);
  }

  title() {
    const settings =
        Object.entries(this.plan.settings).map(([key, value]) => `${key} ${value}`).join(", ");
    return `${this.plan.file}: layers and chunks from left to right` +
        (settings ? `; ${settings}` : "");
  }
  values() {
    return [...new Set(this.rows.flatMap((row) => row.cells))]
        .filter((value) => value && value !== "none")
        .sort();
  }
  summary() {
    return this.rows
        .map((row) => {
          const counts = new Map();
          row.cells.filter(Boolean).forEach(
              (cell) => counts.set(cell, (counts.get(cell) || 0) + 1));
          return `${kKinds[row.key]}: ${
                  [...counts].map(([cell, n]) => `${n} ${cell}`).join(", ")}.`;
        })
        .join(" ");
  }
  swatch(value) {
    const [main, away] = cellStyle(value);
    return away ? `linear-gradient(135deg, ${colourOf(main)} 50%, ${colourOf(away)} 50%)` :
                  colourOf(main);
  }

  draw() {
    const width = this.width = this.surface.clientWidth || 900;
    const left = 118, columns = this.plan.columns.length;
    const cell =
        this.cell = {width: (width - left - 4) / Math.max(1, columns), height: 24, left, top: 20};
    cell.width = Math.min(cell.width, 46);
    const height = cell.top + this.rows.length * (cell.height + 3) + 4;
    this.surface.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.surface.style.aspectRatio = `${width} / ${height}`;
    this.focus =
        svg("rect", {class: "focus", width: cell.width, height: cell.height, visibility: "hidden"});
    this.surface.replaceChildren(
        this.names(), ...this.rows.map((row, y) => this.row(row, y)), this.focus);
  }
  // The names of as many columns as there is room for.
  names() {
    const longest = Math.max(...this.plan.columns.map((name) => name.length)) * 6.5 + 8;
    const every = Math.ceil(longest / this.cell.width);
    return svg(
        "g", {},
        this.plan.columns.map(
            (name, x) => x % every ? null :
                                     svg("text", {
                                       class: "tick",
                                       x: this.x(x) + this.cell.width / 2,
                                       y: 13,
                                       "text-anchor": "middle"
                                     },
                                         name)));
  }
  x(column) { return this.cell.left + column * this.cell.width; }
  y(row) { return this.cell.top + row * (this.cell.height + 3); }
  row(row, y) {
    const group = svg(
        "g", {},
        svg("text", {class: "tick", x: this.cell.left - 6, y: this.y(y) + 16, "text-anchor": "end"},
            kKinds[row.key]));
    row.cells.forEach((value, x) => {
      if (value) group.append(this.drawCell(value, x, y));
    });
    return group;
  }
  drawCell(value, x, y) {
    const {width, height} = this.cell, left = this.x(x), top = this.y(y),
                  wide = Math.max(1, width - 1);
    const [main, away] = cellStyle(value);
    const parts = [
      svg("title", {}, this.words(x, y)),
      svg("rect", {x: left, y: top, width: wide, height, style: `fill:${colourOf(main)}`})
    ];
    if (away)
      parts.push(svg(
          "path",
          {d: `M${left} ${top + height}h${wide}v${- height}z`, style: `fill:${colourOf(away)}`}));
    if (width >= 11)
      parts.push(
          svg("text", {class: "letter", x: left + wide / 2, y: top + 16, "text-anchor": "middle"},
              letterOf(value)));
    return svg("g", {pointerenter: () => this.point(x, y)}, ...parts);
  }

  point(x, y) {
    this.at = [x, y];
    this.focus.setAttribute("x", this.x(x));
    this.focus.setAttribute("y", this.y(y));
    this.focus.setAttribute("visibility", "visible");
    this.readout.textContent = this.words(x, y);
  }
  press(event) {
    const by = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [
                  0, 1
                ]}[event.key];
    if (!by) return;
    event.preventDefault();
    const clamp = (value, most) => Math.max(0, Math.min(most, value));
    const [x, y] = this.at || [-by[0], -by[1]];
    this.point(
        clamp(x + by[0], this.plan.columns.length - 1), clamp(y + by[1], this.rows.length - 1));
  }
  words(x, y) {
    const name = this.plan.columns[x], row = this.rows[y];
    return `${name}, ${kKinds[row.key]}: ${row.cells[x] || "nothing"}${this.bytes(name, row.key)}`;
  }
  // How many bytes that concerns, where plan.json says it; it is of the first plan's model, as all
  // are.
  bytes(name, key) {
    if (!this.run.plan) return "";
    if (key === "activations" && this.plan.file === "plan.yaml") {
      const layer = this.run.plan.layers.find((one) => one.name === name);
      const parts =
          layer ? Object.entries(layer.activation_bytes).filter(([, bytes]) => bytes > 0) : [];
      return parts
                 .map(([fate, bytes]) => `, ${bytesText(bytes)} ${{
                        keep: "stay",
                        recompute: "are computed again",
                        host: "go to host memory",
                        nvme: "go to NVMe"
                      }[fate]}`)
                 .join("") +
          (parts.length ? " (of a micro-batch)" : "");
    }
    const chunk = this.run.plan.chunks.find((one) => one.name === name);
    const field = {
      parameters: "parameter_bytes",
      gradients: "gradient_bytes",
      optimizer: "optimizer_bytes"
    }[key];
    return chunk && field ? `, ${bytesText(chunk[field])}` : "";
  }
  table() {
    return {
      columns: ["", ...this.rows.map((row) => kKinds[row.key])],
      rows:
          this.plan.columns.map((name, x) => [name, ...this.rows.map((row) => row.cells[x] || "")])
    };
  }
}

function drawPlan(host, run) {
  if (!run.plans.length) return host.append(note("Not known: the run has no plan.yaml."));
  const body = make("div");
  const show = (number) => {
    body.replaceChildren();
    new Picture(body, run, run.plans[number]);
  };
  if (run.plans.length > 1)
    host.append(choice(
        "Plan",
        run.plans.map(
            (plan, i) => [String(i), plan.step ? `from step ${plan.step} on` : "at the start"]),
        "0", (value) => show(Number(value))));
  host.append(body);
  show(0);
}
