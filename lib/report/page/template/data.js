// Reads the page's JSON, whose fields docs/report.md describes.

const kRunColours = 8;

function readData() {
  const data = JSON.parse(document.getElementById("spillway-data").textContent);
  data.runs.forEach((run, i) => {
    run.colour = `var(--run-${i % kRunColours})`;
    run.shown = true;
    run.rows.hours = run.rows.elapsed_s.map((seconds) => seconds / 3600);
  });
  return data;
}

const kAxes = {
  step: {key: "step", label: "steps", text: wholeText, at: (step) => `step ${wholeText(step)}`},
  tokens: {
    key: "tokens",
    label: "tokens",
    text: countText,
    at: (tokens) => countText(tokens) + " tokens"
  },
  hours: {
    key: "hours",
    label: "hours in steps",
    text: (hours) => digits(hours, 4),
    at: (hours) => secondsText(3600 * hours)
  },
};

// Where an event lies on an axis: at the last row before it.
function placeOfEvent(run, event, axis) {
  if (axis.key === "step") return event.step;
  const before = run.rows.step.findLastIndex((step) => step <= event.step);
  return before < 0 ? 0 : run.rows[axis.key][before];
}

function wordsOfEvent(event) {
  const more = [];
  if (event.exit) more.push("exit status " + event.exit);
  if (event.why) more.push(event.why);
  if (event.plan) more.push(event.plan);
  if (event.from) more.push("from " + event.from);
  if (event.job) more.push("job " + event.job);
  if (event.changed) more.push([].concat(event.changed).join("; "));
  if (event.done_again) more.push(`${event.done_again} steps are done again`);
  return `${event.event} after step ${event.step}` + (more.length ? ": " + more.join(", ") : "");
}

// Turns the columns of a lane into pieces with times in seconds.
function piecesOf(lanes) {
  const unit_s = lanes.step_s / 1e6;
  return lanes.lanes.map((lane) => {
    let end = 0;
    const pieces = lane.gap.map((gap, i) => {
      const start = end + gap;
      end = start + lane.length[i];
      return {
        start_s: start * unit_s,
        end_s: end * unit_s,
        kind: lanes.kinds[lane.kind[i]],
        block: lanes.blocks[lane.block[i]],
        item: lane.item[i],
        items: lane.items[i]
      };
    });
    return {name: lane.lane, pieces};
  });
}

// The index of the last of ascending numbers that is at most `value`; -1 if none is.
function lastAtMost(numbers, value) {
  let lo = -1, hi = numbers.length;
  while (hi - lo > 1) {
    const middle = (lo + hi) >> 1;
    if (numbers[middle] <= value)
      lo = middle;
    else
      hi = middle;
  }
  return lo;
}

// The index of the one of ascending numbers that is nearest to `value`.
function nearest(numbers, value) {
  const before = Math.max(0, lastAtMost(numbers, value));
  const after = Math.min(numbers.length - 1, before + 1);
  return Math.abs(numbers[after] - value) < Math.abs(value - numbers[before]) ? after : before;
}
