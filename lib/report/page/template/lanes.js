// What each lane does during a step: predicted, and measured below it where the run has a trace.

// Transfers of a lane that are under way together have rows of their own, which are thin.
const kLaneRow = 15, kThinRow = 5, kLaneGap = 7;
const kGroups = [
  "forward", "computed again", "backward", "norm", "update", "activations", "parameters",
  "gradients", "optimizer state", "scratch", "batch and scalars", "other"
];

function leftOutNote(host, lanes) {
  if (!lanes || !lanes.left_out || !lanes.left_out.times) return;
  const {times, period_s, begin_s} = lanes.left_out;
  host.append(note(
      `What happens in the ${secondsText(period_s)} from ${secondsText(begin_s)} on happens ` +
      `${wholeText(times)} times more, one after the other; these repetitions are not drawn.`));
}

function shownSeconds(lanes) {
  return lanes.step_s - (lanes.left_out ? lanes.left_out.times * lanes.left_out.period_s : 0);
}

class Lanes {
  constructor(host, view, sources) {
    this.rows = this.rowsOf(sources);
    let y = 8;
    for (const row of this.rows) {
      row.y = y;
      y += row.height + (row.isLast ? kLaneGap : 1);
    }
    new Plot(host, view, {
      title: sources.map((source) => `${source.name}: ${secondsText(source.lanes.step_s)}`)
                 .join(", over "),
      label: this.label(sources),
      height: y + 36,
      left: 150,
      x: {label: "time in the step", text: secondsText},
      draw: (...all) => this.draw(...all),
      stops: () => this.stops(),
      read: (x) => this.read(x),
      table: () => this.table(),
    });
  }

  // A row for each lane and source, those of a lane below each other.
  rowsOf(sources) {
    const order = ["compute", "h2d", "d2h", "nvme_read", "nvme_write", "comm", "host", "data"];
    const rows = sources.flatMap(
        (source, n) => piecesOf(source.lanes).map((lane) => ({
                                                    ...lane,
                                                    source: n,
                                                    of: source.name,
                                                    ends: lane.pieces.map((piece) => piece.end_s)
                                                  })));
    const place = (row) => order.indexOf(row.name.split(" ")[0]);
    rows.sort((a, b) => place(a) - place(b) || a.source - b.source || a.name.localeCompare(b.name));
    rows.forEach((row, i) => {
      row.isThin = row.name.includes(" ");
      row.height = row.isThin ? kThinRow : kLaneRow;
      row.isLast = !rows[i + 1] || place(rows[i + 1]) !== place(row);
    });
    return rows;
  }
  label(sources) {
    const busy =
        this.rows.map((row) => `${row.name} ${row.of}: ${wholeText(row.pieces.length)} pieces`);
    return `Lanes, ${sources.map((source) => source.name).join(" and ")}. ${busy.join("; ")}`;
  }

  draw(layer, sx, sy, box, back) {
    for (const row of this.rows) {
      if (!row.isThin)
        back.append(
            svg("text", {class: "tick", x: box.left - 6, y: row.y + 11, "text-anchor": "end"},
                `${row.name} ${row.of}`));
      back.append(svg(
          "rect",
          {class: "lane", x: box.left, y: row.y, width: box.right - box.left, height: row.height}));
      for (const [group, d] of this.paths(row, sx, box))
        layer.append(svg("path", {d, style: `fill:${colourOf(group)}`}));
    }
  }
  // One path for each group: thousands of pieces stay a few elements.
  paths(row, sx, box) {
    const paths = new Map();
    for (const piece of row.pieces) {
      if (piece.end_s < sx.lo || piece.start_s > sx.hi) continue;
      const x = Math.max(box.left, sx.at(piece.start_s));
      const width = Math.max(0.6, Math.min(box.right, sx.at(piece.end_s)) - x);
      const d = `M${x.toFixed(2)} ${row.y}h${width.toFixed(2)}v${row.height}h-${width.toFixed(2)}z`;
      paths.set(piece.kind.group, (paths.get(piece.kind.group) || "") + d);
    }
    return paths;
  }

  pieceAt(row, x) {
    const piece = row.pieces[lastAtMost(row.ends, x) + 1];
    return piece && piece.start_s <= x ? piece : null;
  }
  pieceText(piece) {
    const many = piece.items > 1 ? `${piece.items} items, most of it ` : "";
    const where = piece.block ? " " + piece.block : "";
    return `${many}${piece.kind.name}${where} (${piece.kind.group}), ${
               secondsText(piece.end_s - piece.start_s)}` +
        (piece.item >= 0 ? `, item ${piece.item}` : "");
  }
  read(x) {
    const lines = this.rows.flatMap((row) => {
      const piece = this.pieceAt(row, x);
      return piece ?
          [[`${row.name} ${row.of}`, this.pieceText(piece), colourOf(piece.kind.group)]] :
          [];
    });
    return {x, head: secondsText(x), lines};
  }
  stops() {
    const compute = this.rows.find((row) => row.name === "compute") || this.rows[0];
    return compute ? compute.pieces.map((piece) => (piece.start_s + piece.end_s) / 2) : [];
  }
  table() {
    return {
      columns: ["lane", "begins", "takes", "what", "item"],
      rows: this.rows.flatMap(
          (row) => row.pieces.slice(0, 2000).map(
              (piece) =>
                  [`${row.name} ${row.of}`, secondsText(piece.start_s),
                   secondsText(piece.end_s - piece.start_s), this.pieceText(piece), piece.item]))
    };
  }
}

// The steps that can be looked at: the planned one, or those of the trace with their predictions.
// Traces have numbers of blocks and no names, which are the plan's.
function laneSources(run) {
  const planned = run.plan ? run.plan.lanes : null;
  const named = (lanes) => ({...lanes, blocks: planned ? planned.blocks : []});
  if (!run.traces.length)
    return planned ? [{name: "a step", sources: [{name: "predicted", lanes: planned}]}] : [];
  return run.traces.map((trace) => {
    const sources = [{name: "measured", lanes: named(trace.measured)}];
    if (trace.predicted)
      sources.unshift({name: "predicted", lanes: named(trace.predicted)});
    else if (planned)
      sources.unshift({name: "predicted", lanes: planned});
    return {name: `step ${trace.step}`, sources};
  });
}

function drawLanes(host, run, makeView) {
  const steps = laneSources(run);
  if (!steps.length)
    return host.append(note("Not known: the run has neither plan.json nor trace.json."));
  const used = new Set(steps.flatMap(
      (step) => step.sources.flatMap((source) => source.lanes.kinds.map((kind) => kind.group))));
  host.append(
      legend(kGroups.filter((group) => used.has(group)).map((group) => [group, colourOf(group)])));
  const body = make("div");
  const show = (number) => {
    const {sources} = steps[number];
    body.replaceChildren();
    new Lanes(
        body, makeView(Math.max(...sources.map((source) => shownSeconds(source.lanes)))), sources);
    sources.forEach((source) => leftOutNote(body, source.lanes));
  };
  if (steps.length > 1)
    host.append(choice(
        "Step", steps.map((step, i) => [String(i), step.name]), "0",
        (value) => show(Number(value))));
  host.append(body);
  show(0);
  if (!run.traces.length)
    host.append(
        note("Measured lanes are there if the run writes trace.json: give run.trace a step."));
}
