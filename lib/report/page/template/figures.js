// The head: a column of figures for each run.

function modelText({model}) {
  if (!model) return null;
  const vocab = model.vocab ? `, vocabulary ${wholeText(model.vocab)}` : "";
  return `${model.family}, ${model.layers} layers × ${model.hidden}, ${model.heads} heads, ` +
      `sequences of ${wholeText(model.sequence)}${vocab}, ${model.precision}`;
}

function parametersText({parameters, trained_parameters}) {
  if (!parameters) return null;
  const trained = trained_parameters && trained_parameters !== parameters ?
      `, ${countText(trained_parameters)} trained` :
      "";
  return countText(parameters) + trained;
}

function machineText({hosts, devices}) {
  const names = [...new Set(hosts || [])];
  const shown = names.length > 3 ? `${names.length} hosts` : names.join(", ");
  return [shown, devices].filter(Boolean).join(": ") || null;
}

function ranksText({ranks, threads}) {
  if (!ranks) return null;
  return `${ranks}` + (threads ? ` × ${threads} thread${threads === 1 ? "" : "s"}` : "");
}

function stepsText(figures) {
  if (!isValue(figures.steps)) return null;
  const again = figures.done_again ? `, ${figures.done_again} done again` : "";
  return wholeText(figures.steps) +
      (figures.steps_wanted ? ` of ${wholeText(figures.steps_wanted)}` : "") +
      ` in ${figures.jobs} job${figures.jobs === 1 ? "" : "s"}${again}`;
}

function lossText(figures, name, of = "") {
  if (!isValue(figures[name + "_last"])) return null;
  return `${digits(figures[name + "_last"], 5)}, best${of} ${digits(figures[name + "_best"], 5)} ` +
      `at step ${wholeText(figures[name + "_best_step"])}`;
}

function stepTimeText({predicted_step_s, measured_step_s}) {
  if (!isValue(predicted_step_s) && !isValue(measured_step_s)) return null;
  const both = isValue(predicted_step_s) && isValue(measured_step_s) && predicted_step_s > 0;
  const off = both ? 100 * (measured_step_s / predicted_step_s - 1) : 0;
  return `${secondsText(predicted_step_s)} predicted, ${secondsText(measured_step_s)} measured` +
      (both ? ` (${off >= 0 ? "+" : "−"}${digits(Math.abs(off), 2)} %)` : "");
}

function peakText(figures, tier) {
  const planned = (figures.predicted_peak_bytes || {})[tier],
        used = (figures.measured_peak_bytes || {})[tier];
  if (!planned && !used) return null;
  return `${bytesText(planned)} planned, ` +
      (isValue(used) ? `${bytesText(used)} used` : "use not known yet");
}

function rateText({tokens_per_s, mfu}) {
  if (!isValue(tokens_per_s)) return null;
  return `${countText(tokens_per_s)} tokens/s` +
      (isValue(mfu) ? `, ${digits(100 * mfu, 3)} % MFU` : "");
}

function wearText(figures) {
  if (!figures.written_bytes) return null;
  const years =
      figures.lifetime_years > 0 ? `; drives last ${digits(figures.lifetime_years, 2)} years` : "";
  const used = figures.used_lifetime_years > 0 ?
      ` (${digits(figures.used_lifetime_years, 2)} as a spill file uses cells)` :
      "";
  return `${driveText(figures.written_bytes_per_step)} a step, ${
      driveText(figures.written_bytes)} in all${years}${used}`;
}

// A summary tells of the last job alone, while steps and tokens are those of all jobs.
function durationText({duration_s, jobs}, run) {
  if (!isValue(duration_s)) return null;
  return secondsText(duration_s) + (run.summary && jobs > 1 ? `, the last of ${jobs} jobs` : "");
}

const kExits = {
  0: "complete",
  3: "did not fit",
  4: "storage failed",
  5: "damaged data",
  6: "a rank was lost",
  7: "not finite",
  8: "a device failed",
  75: "stopped; goes on with the same command"
};

function endText(figures, run) {
  if (!run.summary) return "no summary: goes on, or was killed";
  return kExits[figures.exit] || `status ${figures.exit}`;
}

const kFigures = [
  ["Model", modelText],
  ["Parameters", parametersText],
  ["Machine", machineText],
  ["Ranks", ranksText],
  ["Steps", stepsText],
  ["End", endText],
  ["Tokens", ({tokens}) => isValue(tokens) ? countText(tokens) : null],
  ["Duration", durationText],
  ["Before the first step", ({restart_s}) => restart_s > 0 ? secondsText(restart_s) : null],
  ["Loss", (figures) => lossText(figures, "loss", " of logged steps")],
  ["Validation loss", (figures) => lossText(figures, "valid")],
  ["Throughput", rateText],
  ["A step", stepTimeText],
  ["Device memory", (figures) => peakText(figures, "device")],
  ["Host memory", (figures) => peakText(figures, "host")],
  ["NVMe", (figures) => peakText(figures, "nvme")],
  [
    "Process",
    ({peak_rss_bytes}) => peak_rss_bytes ? `${bytesText(peak_rss_bytes)} resident at most` : null
  ],
  ["Written to drives", wearText],
  ["Version", ({version, git}) => version ? `${version} (${git})` : null],
];

function drawFigures(host, runs) {
  const rows = kFigures.map(([name, text]) => [name, ...runs.map((run) => text(run.figures, run))])
                   .filter((row) => row.slice(1).some((cell) => cell !== null));
  const heads = runs.map(
      (run) => make(
          "span", {title: run.directory},
          make("span", {class: "swatch", style: `background:${run.colour}`}), run.name));
  host.append(table(["", ...heads], rows));
  for (const run of runs)
    if (run.notes.length)
      host.append(note((runs.length > 1 ? `${run.name}: ` : "") + run.notes.join(" ")));
}
