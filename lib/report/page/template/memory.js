// What lies in each tier over the planned step, and who holds it at the peak.

const kContents =
    ["parameters", "gradients", "optimizer state", "activations", "scratch", "batch and scalars"];

function tierWords(tier) {
  return {device: "device memory", host: "host memory", nvme: "NVMe"}[tier] || tier;
}

function capital(text) { return text[0].toUpperCase() + text.slice(1); }

class Memory {
  constructor(host, view, run, tier) {
    this.record = run.plan.memory[tier];
    this.times = this.record.at_s;
    this.contents = kContents.filter((content) => this.record.bytes[content]);
    const measured = (run.figures.measured_peak_bytes || {})[tier];
    this.used = measured;
    new Plot(host, view, {
      title: this.title(tier),
      label: `${this.title(tier)}. ${this.ownersText()}`,
      height: 190,
      left: 78,
      x: {label: "time in the step", text: secondsText},
      y: {text: bytesText, unit: "bytes"},
      range: () => [0, Math.max(this.record.peak_bytes, measured || 0) * 1.06],
      draw: (...all) => this.draw(...all),
      stops: () => this.times,
      read: (x) => this.read(x),
      table: () => this.table(),
    });
    host.append(this.owners(tier));
  }

  title(tier) {
    const {peak_bytes, budget_bytes} = this.record;
    const budget = budget_bytes > 0 ? ` of a budget of ${bytesText(budget_bytes)}` : "";
    const used = isValue(this.used) ? `, ${bytesText(this.used)} were used` : "";
    return `${capital(tierWords(tier))}: ${bytesText(peak_bytes)} planned${budget}${used}`;
  }
  sum(row, before = kContents.length) {
    return this.contents.slice(0, before).reduce(
        (sum, content) => sum + this.record.bytes[content][row], 0);
  }

  draw(layer, sx, sy, box) {
    this.contents.forEach((content, n) => {
      layer.append(svg("path", {d: this.area(n, sx, sy, box), style: `fill:${colourOf(content)}`}));
    });
    this.line(layer, sy, box, this.record.peak_bytes, "planned");
    if (isValue(this.used)) this.line(layer, sy, box, this.used, "used");
    const x = sx.at(this.record.peak.at_s);
    layer.append(
        svg("path", {class: "peak", d: `M${x - 5} ${box.top}h10l-5 8z`},
            svg("title", {}, `the peak, at ${this.record.peak.doing}`)));
  }
  // Steps: what is there holds until the next moment.
  area(n, sx, sy, box) {
    const upper = [], lower = [];
    this.times.forEach((time, row) => {
      const x = sx.at(time).toFixed(1);
      const next =
          row + 1 < this.times.length ? sx.at(this.times[row + 1]).toFixed(1) : box.right + 1e4;
      const top = sy.at(this.sum(row, n + 1)).toFixed(1), low = sy.at(this.sum(row, n)).toFixed(1);
      upper.push(`${x} ${top}L${next} ${top}`);
      lower.unshift(`${next} ${low}L${x} ${low}`);
    });
    return `M${upper.join("L")}L${lower.join("L")}Z`;
  }
  line(layer, sy, box, bytes, kind) {
    const y = sy.at(bytes);
    layer.append(svg("line", {class: "limit " + kind, x1: box.left, x2: box.right, y1: y, y2: y}));
  }

  read(x) {
    const row = Math.max(0, lastAtMost(this.times, x));
    return {
      x,
      head: `${secondsText(x)}: ${bytesText(this.sum(row))}`,
      lines: this.contents.map(
          (content) => [content, bytesText(this.record.bytes[content][row]), colourOf(content)])
    };
  }
  table() {
    return {
      columns: ["time", ...this.contents],
      rows: this.times.map(
          (time, row) =>
              [secondsText(time),
               ...this.contents.map((content) => bytesText(this.record.bytes[content][row]))])
    };
  }

  ownersText() {
    return "At the peak: " +
        this.record.peak.owners.map((owner) => `${this.ownerName(owner)} ${bytesText(owner.bytes)}`)
            .join(", ");
  }
  ownerName(owner) {
    if (!owner.passing) return owner.content;
    return owner.content + (owner.content === "activations" ? " in use" : " brought for use");
  }
  owners(tier) {
    const {peak, peak_bytes} = this.record;
    const rows = peak.owners.map(
        (owner) =>
            [this.ownerName(owner), bytesText(owner.bytes), percentText(owner.bytes, peak_bytes),
             owner.tensors, `${owner.largest} (${bytesText(owner.largest_bytes)})`]);
    if (peak.gap_bytes > 0)
      rows.push([
        "unused then", bytesText(peak.gap_bytes), percentText(peak.gap_bytes, peak_bytes), "", ""
      ]);
    return make(
        "details", {class: "data"},
        make(
            "summary", {},
            `Who holds the peak of ${tierWords(tier)}, at ${peak.doing} (item ${peak.item})`),
        table(["content", "bytes", "share", "tensors", "the largest"], rows));
  }
}

function drawMemory(host, run, view) {
  const tiers = run.plan ? Object.keys(run.plan.memory) : [];
  if (!tiers.length) return host.append(note("Not known: the run has no plan.json."));
  const contents =
      kContents.filter((content) => tiers.some((tier) => run.plan.memory[tier].bytes[content]));
  host.append(legend([
    ...contents.map((content) => [content, colourOf(content)]),
    ["peak as planned (line)", "var(--text)"], ["as used (dashes)", "var(--muted)"]
  ]));
  tiers.forEach((tier) => new Memory(host, view, run, tier));
  leftOutNote(host, run.plan.lanes);
}
