// Bars: what ops took beside what was predicted, which rank waited for which, how busy lanes were.
// And the points of `spillway rok`.

// `rows` have a name and bars of [what, value, colour, text].
function bars(host, title, rows, about) {
  const width = 900, left = 190, height = 15;
  const most = Math.max(...rows.flatMap((row) => row.bars.map((bar) => bar[1])), 1e-300);
  const longest = Math.max(...rows.flatMap((row) => row.bars.map((bar) => bar[3].length)));
  const room = width - left - 12 - 6.3 * longest;  // what the longest text leaves
  const parts = [];
  let y = 4;
  for (const row of rows) {
    parts.push(svg(
        "text",
        {class: "tick", x: left - 8, y: y + row.bars.length * height / 2 + 4, "text-anchor": "end"},
        row.name));
    for (const [what, value, colour, text] of row.bars) {
      const wide = Math.max(0.5, room * value / most);
      parts.push(
          svg("rect", {x: left, y, width: wide, height: height - 2, style: `fill:${colour}`},
              svg("title", {}, `${row.name}, ${what}: ${text}`)));
      parts.push(svg("text", {class: "tick", x: left + wide + 5, y: y + 11}, text));
      y += height;
    }
    y += 7;
  }
  const label = `${title}. ` +
      rows.map((row) => `${row.name}: ${row.bars.map((bar) => `${bar[0]} ${bar[3]}`).join(", ")}`)
          .join("; ");
  const kinds = new Map(rows.flatMap((row) => row.bars.map((bar) => [bar[0], bar[2]])));
  host.append(make(
      "figure", {}, make("figcaption", {}, title), kinds.size > 1 ? legend([...kinds]) : null,
      svg("svg", {
        class: "chart fixed",
        viewBox: `0 0 ${width} ${y}`,
        tabindex: 0,
        role: "img",
        "aria-label": label
      },
          ...parts),
      about ? note(about) : null,
      dataTable(() => ({
                  columns: ["", ...kinds.keys()],
                  rows: rows.map(
                      (row) =>
                          [row.name,
                           ...[...kinds.keys()].map(
                               (kind) => (row.bars.find((bar) => bar[0] === kind) || [])[3])])
                }))));
}

const kPredicted = "var(--predicted)", kMeasured = "var(--measured)";

function drawOps(host, run) {
  const ops = Object.entries(run.summary.ops || {}).map(([name, op]) => ({name, ...op}));
  if (!ops.length) return;
  ops.sort((a, b) => Math.max(b.measured_s, b.predicted_s) - Math.max(a.measured_s, a.predicted_s));
  const rest = ops.splice(14);
  if (rest.length)
    ops.push({
      name: `${rest.length} others`,
      predicted_s: rest.reduce((sum, op) => sum + op.predicted_s, 0),
      measured_s: rest.reduce((sum, op) => sum + op.measured_s, 0)
    });
  bars(
      host, "Ops: seconds in a step",
      ops.map((op) => ({
                name: op.name,
                bars: [
                  ["predicted", op.predicted_s, kPredicted, secondsText(op.predicted_s)],
                  ["measured", op.measured_s, kMeasured, secondsText(op.measured_s)]
                ]
              })));
}

function drawWaits(host, run) {
  const waits = run.summary.waits || [];
  if (!waits.length) return;
  const share = (wait) =>
      `${secondsText(wait.waited_s)}, ${percentText(wait.waited_s, run.summary.train_s)}` +
      (wait.most_for >= 0 ? `; ${secondsText(wait.for_it_s)} of it for rank ${wait.most_for}` : "");
  bars(
      host, "Ranks: how long each waited for others",
      waits.map(
          (wait, rank) =>
              ({name: `rank ${rank}`, bars: [["waited", wait.waited_s, kMeasured, share(wait)]]})),
      "Who waits least is slowest: the others wait for it. batch.share can give it less to do.");
}

function drawLaneUse(host, run) {
  const lanes = Object.entries(run.summary.lanes || {});
  if (!lanes.length) return;
  bars(
      host, "Lanes of rank 0 over the last job",
      lanes.map(
          ([name, lane]) => ({
            name,
            bars: [
              [
                "busy", lane.busy_s, kMeasured,
                secondsText(lane.busy_s) +
                    (lane.bytes ? `, ${driveText(lane.bytes)} at ${digits(lane.gbps, 3)} GB/s` : "")
              ],
              ["waited for other lanes", lane.stall_s, kPredicted, secondsText(lane.stall_s)]
            ]
          })));
}

function drawTimes(host, run) {
  if (!run.summary) return host.append(note("Not known: the run has no summary.json yet."));
  drawOps(host, run);
  drawWaits(host, run);
  drawLaneUse(host, run);
}

// Points of budget against rate: a curve for each policy, and for what the planner decided one for
// each size of micro-batches, over its budgets. Bars are from the slowest to the fastest step.
const kPlanned = "auto";

class Rok {
  constructor(host, points) {
    this.points = points;
    this.policies = [...new Set(points.map((point) => point.policy))];
    const most = Math.max(...points.map((point) => point.peak_device_bytes));
    const view = new View(0, most * 1.05);
    host.append(legend(this.policies.map(
        (policy) => [policy === kPlanned ? "planned by spillway" : policy, this.colour(policy)])));
    new Plot(host, view, {
      title: "Tokens/s against the device memory that was used; numbers: sequences a step; bars: " +
          "all steps",
      label: `Recompute, offload, keep: ${points.length} measured points of ${
          this.policies.join(", ")}`,
      height: 320,
      x: {label: "device memory", text: bytesText, unit: "bytes"},
      y: {text: countText},
      range: () => [0, Math.max(...points.map((point) => this.rates(point)[1])) * 1.05],
      draw: (...all) => this.draw(...all),
      read: (x) => this.read(x),
      table: () => this.table(),
      stops: () => points.map((point) => point.peak_device_bytes).sort((a, b) => a - b),
    });
  }
  colour(policy) {
    if (policy === kPlanned) return "var(--text)";
    const others = this.policies.filter((other) => other !== kPlanned);
    return `var(--run-${others.indexOf(policy) % kRunColours})`;
  }
  // The rates of the slowest and of the fastest step; files of earlier versions have none.
  rates({tokens_per_s, step_s, least_step_s, most_step_s}) {
    const rate = (seconds) => seconds > 0 ? tokens_per_s * step_s / seconds : tokens_per_s;
    return [rate(most_step_s), rate(least_step_s)];
  }
  // The points of each line, in their order.
  lines() {
    return this.policies.flatMap((policy) => {
      const own = this.points.filter((point) => point.policy === policy);
      if (policy !== kPlanned) return [own.sort((a, b) => a.micro - b.micro)];
      const micros = [...new Set(own.map((point) => point.micro))];
      return micros.map(
          (micro) => own.filter((point) => point.micro === micro)
                         .sort((a, b) => a.peak_device_bytes - b.peak_device_bytes));
    });
  }
  draw(layer, sx, sy) {
    for (const line of this.lines()) {
      const {policy} = line[0], style = `stroke:${this.colour(policy)}`;
      const place = (point) => `${sx.at(point.peak_device_bytes)} ${sy.at(point.tokens_per_s)}`;
      layer.append(svg("path", {
        class: policy === kPlanned ? "curve planned" : "curve",
        d: "M" + line.map(place).join("L"),
        style
      }));
      for (const point of line) {
        const x = sx.at(point.peak_device_bytes), y = sy.at(point.tokens_per_s);
        const [least, most] = this.rates(point).map((rate) => sy.at(rate));
        layer.append(
            svg("path", {class: "curve", d: `M${x} ${least}V${most}`, style}),
            svg("circle", {class: "dot", cx: x, cy: y, r: 4, style},
                svg("title", {}, `${policy}, ${point.micro} sequences`)),
            svg("text", {class: "tick", x: x + 6, y: y - 6}, point.micro));
      }
    }
  }
  read(x) {
    const bytes = this.points.map((point) => point.peak_device_bytes);
    const at = bytes.reduce(
        (best, value) => Math.abs(value - x) < Math.abs(best - x) ? value : best, bytes[0]);
    return {
      x: at,
      head: bytesText(at),
      lines: this.points.filter((point) => point.peak_device_bytes === at)
                 .map(
                     (point) =>
                         [`${point.policy}, ${point.micro}`,
                          `${countText(point.tokens_per_s)} tokens/s, ${
                              secondsText(point.step_s)} a step, ` +
                              `predicted ${secondsText(point.predicted_step_s)}`,
                          this.colour(point.policy)])
    };
  }
  table() {
    const columns = [
      "policy", "micro", "peak_device_bytes", "step_s", "predicted_step_s", "tokens_per_s",
      "spilled_bytes"
    ];
    return {columns, rows: this.points.map((point) => columns.map((column) => point[column]))};
  }
}

function drawRok(host, run) {
  if (run.rok.length) new Rok(host, run.rok);
}
