// Curves against steps, tokens or hours: all runs over each other, with restarts, re-plans and slow
// ranks.

const kCurves = [
  {key: "loss", title: "Loss", text: plainText, dots: "valid_loss", mayLog: true, height: 300},
  {key: "tokens_per_s", title: "Throughput, tokens/s", text: countText, fromZero: true},
  {key: "grad_norm", title: "Gradient norm", text: plainText, mayLog: true},
  {key: "lr", title: "Learning rate", text: (value) => digits(value, 4)},
];

function isValue(value) { return value !== null && value !== undefined && Number.isFinite(value); }

function isMarked({event, step, exit}) {
  return !(event === "start" && step === 0) && !(event === "end" && exit === 0);
}

const kMarks = "Marks: a square where a job begins or ends, a triangle for a re-plan, one on its " +
    "base for a slow rank (empty: it is no longer slow).";

// A triangle for a re-plan, one that stands on its base for a slow rank (an open one for its end), a
// square for what begins or ends a job.
function markOfEvent(event, x, top) {
  if (event.event === "replan") return `M${x - 5} ${top}h10l-5 8z`;
  if (event.event.startsWith("slow-rank")) return `M${x - 5} ${top + 8}h10l-5 -8z`;
  return `M${x - 4} ${top}h8v8h-8z`;
}

class Curve {
  constructor(host, view, state, runs, spec) {
    Object.assign(
        this, {state, spec, runs: runs.filter((run) => run.rows[spec.key].some(isValue))});
    if (!this.runs.length) return;
    const names = spec.dots && this.runs.some((run) => run.rows[spec.dots].some(isValue)) ?
        `${spec.title} (lines: training, dots: validation)` :
        spec.title;
    new Plot(host, view, {
      title: names,
      label: this.label(names),
      height: spec.height || 210,
      get x() { return kAxes[state.axis]; },
      get y() { return {text: spec.text, log: spec.mayLog && state.isLog}; },
      range: (lo, hi) => this.range(lo, hi),
      draw: (...all) => this.draw(...all),
      stops: () => this.stops(),
      read: (x, sx) => this.read(x, sx),
      table: () => this.table(),
    });
  }

  shown() { return this.runs.filter((run) => run.shown); }
  xs(run) { return run.rows[kAxes[this.state.axis].key]; }
  keys() { return this.spec.dots ? [this.spec.key, this.spec.dots] : [this.spec.key]; }
  label(title) {
    const ends = this.runs.map((run) => {
      const values = run.rows[this.spec.key].filter(isValue);
      return `${run.name}: from ${this.spec.text(values[0])} to ${this.spec.text(values.at(-1))}`;
    });
    return `${title}. ${ends.join("; ")}. Arrow keys move the cursor.`;
  }

  // What is shown of the x axis decides: zooming in on a flat part makes it tall.
  range(lo, hi) {
    let least = Infinity, most = -Infinity;
    for (const run of this.shown())
      for (const key of this.keys())
        this.xs(run).forEach((x, i) => {
          const value = run.rows[key][i];
          if (x < lo || x > hi || !isValue(value)) return;
          least = Math.min(least, value);
          most = Math.max(most, value);
        });
    if (least > most) return [0, 1];
    if (this.spec.mayLog && this.state.isLog && least > 0) return [least / 1.03, most * 1.03];
    if (this.spec.fromZero) return [0, most * 1.05 || 1];
    const room = (most - least) * 0.05 || Math.abs(most) * 0.05 || 1;
    return [least - room, most + room];
  }

  draw(layer, sx, sy, box) {
    for (const run of this.shown()) {
      this.drawEvents(layer, sx, box, run);
      layer.append(
          svg("path", {class: "curve", d: this.path(run, sx, sy), style: `stroke:${run.colour}`}));
      if (this.spec.dots) this.drawDots(layer, sx, sy, run);
    }
  }
  path(run, sx, sy) {
    const values = run.rows[this.spec.key];
    let d = "", pen = "M";
    this.xs(run).forEach((x, i) => {
      if (!isValue(values[i]) || (sy.isLog && values[i] <= 0)) {
        if (values[i] === null && this.spec.key === "loss") pen = "M";
        return;
      }
      d += `${pen}${sx.at(x).toFixed(1)} ${sy.at(values[i]).toFixed(1)}`;
      if (pen === "M") d += "h0";  // a point that stands alone is a dot
      pen = "L";
    });
    return d;
  }
  drawDots(layer, sx, sy, run) {
    const values = run.rows[this.spec.dots];
    const radius = values.filter(isValue).length > 40 ? 2 : 3.5;
    this.xs(run).forEach((x, i) => {
      if (!isValue(values[i])) return;
      layer.append(svg("circle", {
        class: "dot",
        cx: sx.at(x),
        cy: sy.at(values[i]),
        r: radius,
        style: `stroke:${run.colour}`
      }));
    });
  }
  drawEvents(layer, sx, box, run) {
    for (const event of run.events) {
      if (!isMarked(event)) continue;
      const x = sx.at(placeOfEvent(run, event, kAxes[this.state.axis]));
      const mark = markOfEvent(event, x, box.top);
      layer.append(svg(
          "g", {class: "event " + event.event, style: `stroke:${run.colour};fill:${run.colour}`},
          svg("title", {}, wordsOfEvent(event)), svg("path", {d: mark}),
          svg("line", {x1: x, x2: x, y1: box.top, y2: box.bottom})));
    }
  }

  stops() {
    return [...new Set(this.shown().flatMap((run) => this.xs(run)))].sort((a, b) => a - b);
  }
  read(x, sx) {
    const axis = kAxes[this.state.axis];
    const lines = [];
    let at = null;
    for (const run of this.shown()) {
      const xs = this.xs(run);
      if (!xs.length) continue;
      const row = nearest(xs, x);
      if (at === null || Math.abs(xs[row] - x) < Math.abs(at - x)) at = xs[row];
      lines.push([run.name, this.valueText(run, row), run.colour]);
      for (const event of run.events)
        if (Math.abs(sx.at(placeOfEvent(run, event, axis)) - sx.at(x)) < 5)
          lines.push(["", wordsOfEvent(event), run.colour]);
    }
    return at === null ? null : {x: at, head: axis.at(at), lines};
  }
  valueText(run, row) {
    const value = run.rows[this.spec.key][row];
    const dot = this.spec.dots ? run.rows[this.spec.dots][row] : null;
    const step = this.state.axis === "step" ? "" : ` at step ${run.rows.step[row]}`;
    return (isValue(value) ? String(value) : "none") + (isValue(dot) ? `, validation ${dot}` : "") +
        step;
  }

  table() {
    const keys = this.keys();
    const rows = this.shown().flatMap(
        (run) => run.rows.step.flatMap(
            (step, i) => keys.some((key) => isValue(run.rows[key][i])) ?
                [[step, run.name, run.rows.tokens[i], ...keys.map((key) => run.rows[key][i])]] :
                []));
    return {columns: ["step", "run", "tokens", ...keys], rows};
  }
}

function drawCurves(host, runs, state) {
  const ends = () => {
    const xs = runs.filter((run) => run.shown)
                   .flatMap((run) => run.rows[kAxes[state.axis].key])
                   .filter(isValue);
    return xs.reduce(([lo, hi], x) => [Math.min(lo, x), Math.max(hi, x)], [0, 0]);
  };
  const view = new View(...ends());
  kCurves.forEach((spec) => new Curve(host, view, state, runs, spec));
  const events =
      runs.flatMap((run) => run.events.map((event) => [run.name, event.time, wordsOfEvent(event)]));
  host.append(make(
      "details", {class: "data"}, make("summary", {}, "Starts, resumes, re-plans and slow ranks"),
      table(["run", "time", "what"], events)));
  if (runs.some((run) => run.events.some(isMarked))) host.append(note(kMarks));
  const thin = runs.filter((run) => run.rows.all > run.rows.step.length);
  if (thin.length)
    host.append(note(
        thin.map(
                (run) =>
                    `${run.name}: ${wholeText(run.rows.step.length)} of ` +
                    `${
                        wholeText(
                            run.rows
                                .all)} rows are here, those with the least and greatest values of each stretch.`)
            .join(" ")));
  return {
    changeAxis() {
      view.setFull(...ends());
      view.draw();
    },
    draw() { view.draw(); },
  };
}
