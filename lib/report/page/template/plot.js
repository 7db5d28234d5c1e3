// What all charts over an x axis share: hover, zoom, keys, and a table of the data.

// A View is the part of an x axis that charts show together, and the cursor in it.
class View {
  constructor(lo, hi) {
    this.plots = [];
    this.cursor = null;
    this.setFull(lo, hi);
  }
  setFull(lo, hi) {
    this.full = [lo, hi > lo ? hi : lo + 1];
    this.shown = this.full;
  }
  zoom(lo, hi) {
    lo = Math.max(this.full[0], lo);
    hi = Math.min(this.full[1], hi);
    if (hi - lo > 1e-9 * (this.full[1] - this.full[0])) this.shown = [lo, hi];
    this.draw();
  }
  zoomBy(factor) {
    const [lo, hi] = this.shown;
    const middle = this.cursor === null ? (lo + hi) / 2 : this.cursor;
    this.zoom(middle - (middle - lo) * factor, middle + (hi - middle) * factor);
  }
  reset() {
    this.shown = this.full;
    this.draw();
  }
  draw() { this.plots.forEach((plot) => plot.draw()); }
  point(x) {
    this.cursor = x;
    this.plots.forEach((plot) => plot.drawCursor());
  }
}

// `spec` has title, label, height, left (margin), x and y (axes; y may be missing), range(lo, hi)
// of y, draw(layer, sx, sy, box), stops() where the cursor goes with keys, read(x), and table().
class Plot {
  constructor(host, view, spec) {
    Object.assign(this, {view, spec});
    this.readout = make("div", {class: "readout", "aria-live": "polite"});
    this.surface = svg("svg", {class: "chart", tabindex: 0, role: "img", "aria-label": spec.label});
    this.figure = make(
        "figure", {}, make("figcaption", {}, spec.title), this.readout, this.surface,
        dataTable(() => spec.table()));
    host.append(this.figure);
    view.plots.push(this);
    this.listen();
    this.draw();
    new ResizeObserver(() => this.surface.clientWidth !== this.width && this.draw())
        .observe(this.figure);
  }

  listen() {
    const place = (event) => {
      const [lo, hi] = this.view.shown;
      const at = event.clientX - this.surface.getBoundingClientRect().left;
      return Math.min(hi, Math.max(lo, this.sx.value(at)));
    };
    const on = (name, action) => this.surface.addEventListener(name, action);
    on("pointerdown", (event) => {
      this.dragged = [place(event), place(event)];
      this.surface.setPointerCapture(event.pointerId);
    });
    on("pointermove", (event) => {
      if (this.dragged) this.dragged[1] = place(event);
      this.view.point(place(event));
    });
    on("pointerup", () => this.drop());
    on("pointercancel", () => {
      this.dragged = null;
    });
    on("pointerleave", () => this.view.point(null));
    on("dblclick", () => this.view.reset());
    on("keydown", (event) => this.press(event));
    on("blur", () => this.view.point(null));
  }

  drop() {
    const [a, b] = this.dragged || [0, 0];
    this.dragged = null;
    if (Math.abs(this.sx.at(a) - this.sx.at(b)) > 5) this.view.zoom(Math.min(a, b), Math.max(a, b));
  }

  press(event) {
    const far = event.shiftKey ? 10 : 1;
    const actions = {
      ArrowLeft: () => this.step(-far),
      ArrowRight: () => this.step(far),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      "+": () => this.view.zoomBy(0.5),
      "=": () => this.view.zoomBy(0.5),
      "-": () => this.view.zoomBy(2),
      Escape: () => this.view.reset(),
      0: () => this.view.reset(),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  // Moves the cursor by some stops among those that are shown.
  step(by) {
    const [lo, hi] = this.view.shown;
    const stops = this.spec.stops().filter((x) => x >= lo && x <= hi);
    if (!stops.length) return;
    const now =
        this.view.cursor === null ? (by > 0 ? -1 : stops.length) : nearest(stops, this.view.cursor);
    this.view.point(stops[Math.max(0, Math.min(stops.length - 1, now + by))]);
  }

  draw() {
    const {spec, view} = this;
    const width = this.width = this.surface.clientWidth || 900;
    const height = spec.height;
    const box = this.box = {left: spec.left || 62, right: width - 20, top: 8, bottom: height - 34};
    this.sx = scale(view.shown[0], view.shown[1], box.left, box.right, false);
    this.surface.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.surface.style.aspectRatio = `${width} / ${height}`;
    this.cursorLayer = svg("g", {class: "cursor"});
    const back = svg("g", {}), marks = svg("svg", {
                                 x: box.left,
                                 y: 0,
                                 width: box.right - box.left,
                                 height,
                                 viewBox: `${box.left} 0 ${box.right - box.left} ${height}`
                               });
    drawXAxis(back, box, this.sx, spec.x);
    let sy = null;
    if (spec.y) {
      const [lo, hi] = spec.range(view.shown[0], view.shown[1]);
      sy = scale(lo, hi, box.bottom, box.top, spec.y.log && lo > 0);
      drawYAxis(back, box, sy, spec.y);
    }
    spec.draw(marks, this.sx, sy, box, back);
    this.surface.replaceChildren(back, marks, this.cursorLayer);
    this.drawCursor();
  }

  drawCursor() {
    const {view, box, sx} = this;
    const parts = [];
    if (this.dragged) {
      const [a, b] = this.dragged.map(sx.at);
      parts.push(svg("rect", {
        class: "selected",
        x: Math.min(a, b),
        width: Math.abs(a - b),
        y: box.top,
        height: box.bottom - box.top
      }));
    }
    const isShown =
        view.cursor !== null && view.cursor >= view.shown[0] && view.cursor <= view.shown[1];
    const said = isShown ? this.spec.read(view.cursor, sx) : null;
    if (said)
      parts.push(svg("line", {x1: sx.at(said.x), x2: sx.at(said.x), y1: box.top, y2: box.bottom}));
    this.cursorLayer.replaceChildren(...parts);
    this.readout.replaceChildren(...(said ? this.words(said) : []));
  }

  words(said) {
    return [
      make("b", {}, said.head),
      ...said.lines.map(
          ([name, value, colour]) => make(
              "span", {},
              colour ? make("i", {class: "swatch", style: `background:${colour}`}) : null,
              name ? name + " " : "", make("b", {}, value)))
    ];
  }
}
