// Scales from values to places in a chart, and the axes that show them.

function scale(lo, hi, from, to, isLog) {
  const turn = isLog ? Math.log : (value) => value;
  const back = isLog ? Math.exp : (value) => value;
  const a = turn(lo), factor = (to - from) / ((turn(hi) - a) || 1);
  return {
    lo,
    hi,
    isLog,
    at: (value) => from + (turn(value) - a) * factor,
    value: (place) => back(a + (place - from) / factor)
  };
}

function drawXAxis(layer, box, sx, axis) {
  const least = Math.max(3, Math.floor((box.right - box.left) / 180));
  for (const tick of linearTicks(sx.lo, sx.hi, least, axis.unit)) {
    const x = sx.at(tick);
    layer.append(
        svg("line", {class: "grid", x1: x, x2: x, y1: box.top, y2: box.bottom}),
        svg("text", {class: "tick", x, y: box.bottom + 15, "text-anchor": "middle"},
            axis.text(tick)));
  }
  layer.append(svg(
      "text", {class: "axis", x: box.right, y: box.bottom + 29, "text-anchor": "end"}, axis.label));
}

function drawYAxis(layer, box, sy, axis) {
  const ticks = sy.isLog ? logTicks(sy.lo, sy.hi) : linearTicks(sy.lo, sy.hi, 3, axis.unit);
  for (const tick of ticks) {
    const y = sy.at(tick);
    layer.append(
        svg("line", {class: "grid", x1: box.left, x2: box.right, y1: y, y2: y}),
        svg("text", {class: "tick", x: box.left - 6, y: y + 4, "text-anchor": "end"},
            axis.text(tick)));
  }
}
