// Puts the page together. A part that cannot be drawn says so, and the others are drawn.

function attempt(id, draw) {
  const host = document.getElementById(id);
  try {
    draw(host);
  } catch (error) {
    document.documentElement.dataset.error = `${id}: ${error.message}`;
    host.append(note(`This part cannot be drawn: ${error.message}`));
  }
}

// What belongs to one run is drawn anew when another is chosen.
function clear(id) {
  const host = document.getElementById(id);
  while (host.children.length > 1) host.lastElementChild.remove();
}

function drawRun(run) {
  ["plan", "memory", "lanes", "times", "rok"].forEach(clear);
  const views = [];
  const makeView = (seconds) => {
    const view = new View(0, seconds);
    views.push(view);
    return view;
  };
  attempt("plan", (host) => drawPlan(host, run));
  attempt(
      "memory",
      (host) => drawMemory(host, run, makeView(run.plan ? shownSeconds(run.plan.lanes) : 1)));
  attempt("lanes", (host) => drawLanes(host, run, makeView));
  attempt("times", (host) => drawTimes(host, run));
  attempt("rok", (host) => drawRok(host, run));
  document.getElementById("rok").hidden = !run.rok.length;
}

function themeSwitch() {
  const root = document.documentElement;
  return choice(
      "Colours", [["auto", "as the system"], ["light", "light"], ["dark", "dark"]], "auto",
      (value) => {
        if (value === "auto")
          delete root.dataset.theme;
        else
          root.dataset.theme = value;
      });
}

function runSwitches(runs, redraw) {
  return make("fieldset", {class: "runs"}, make("legend", {}, "Runs"), runs.map((run) => {
    const box = make("input", {
      type: "checkbox",
      checked: "",
      change: () => {
        run.shown = box.checked;
        redraw();
      }
    });
    return make(
        "label", {}, box, make("span", {class: "swatch", style: `background:${run.colour}`}),
        run.name);
  }));
}

function drawControls(runs, state, curves) {
  const controls = document.getElementById("controls");
  controls.append(
      choice(
          "Axis", [["step", "steps"], ["tokens", "tokens"], ["hours", "hours"]], state.axis,
          (value) => {
            state.axis = value;
            curves.changeAxis();
          }),
      choice("Loss and norm", [["linear", "linear"], ["log", "logarithmic"]], "linear", (value) => {
        state.isLog = value === "log";
        curves.draw();
      }));
  if (runs.length > 1) {
    controls.append(runSwitches(runs, () => curves.draw()));
    controls.append(choice(
        "Plan, memory, lanes and times of", runs.map((run, i) => [String(i), run.name]), "0",
        (value) => drawRun(runs[Number(value)])));
  }
  controls.append(themeSwitch());
}

function begin() {
  const data = readData(), runs = data.runs;
  const state = {axis: "step", isLog: false};
  document.getElementById("title").textContent = runs.map((run) => run.name).join(", ");
  document.getElementById("made").textContent = `made ${data.made} by spillway ${data.version}`;
  let curves = {changeAxis() {}, draw() {}};
  attempt("figures", (host) => drawFigures(host, runs));
  attempt("curves", (host) => {
    if (runs.every((run) => !run.rows.step.length))
      return host.append(note("No step has been logged yet."));
    curves = drawCurves(host, runs, state);
  });
  drawControls(runs, state, curves);
  drawRun(runs[0]);
  document.documentElement.dataset.drawn = document.querySelectorAll("svg.chart").length;
}

begin();
