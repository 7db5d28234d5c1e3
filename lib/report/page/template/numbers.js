"use strict";
// Numbers as people read them, and where axes have ticks.

const kUnknown = "–";

function digits(value, most) {
  if (!Number.isFinite(value)) return kUnknown;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4))
    return value.toExponential(most - 1).replace(/\.?0+e/, "e");
  const places = size === 0 ? 0 : Math.max(0, most - 1 - Math.floor(Math.log10(size)));
  const text = value.toFixed(Math.min(places, 12));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function inUnits(value, factor, units) {
  let unit = 0;
  while (Math.abs(value) >= factor * 0.9995 && unit + 1 < units.length) {
    value /= factor;
    ++unit;
  }
  return digits(value, 3) + units[unit];
}

function bytesText(bytes) {
  if (!Number.isFinite(bytes)) return kUnknown;
  return inUnits(bytes, 1024, [" B", " KiB", " MiB", " GiB", " TiB", " PiB"]);
}

// Drives are rated in powers of ten.
function driveText(bytes) {
  return inUnits(bytes, 1000, [" B", " kB", " MB", " GB", " TB", " PB"]);
}

function countText(value) {
  if (!Number.isFinite(value)) return kUnknown;
  return Math.abs(value) < 1e5 ? digits(value, 5) :
                                 inUnits(value, 1000, ["", " k", " M", " B", " T"]);
}

function wholeText(value) {
  return Number.isFinite(value) ? value.toLocaleString("en-US") : kUnknown;
}

function secondsText(seconds) {
  if (!Number.isFinite(seconds)) return kUnknown;
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 1e-3) return digits(1e6 * seconds, 3) + " µs";
  if (size < 1) return digits(1e3 * seconds, 3) + " ms";
  if (size < 120) return digits(seconds, 3) + " s";
  if (size < 2 * 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  if (size < 48 * 3600)
    return `${Math.floor(seconds / 3600)} h ${Math.round(seconds / 60 % 60)} min`;
  return digits(seconds / 86400, 3) + " days";
}

function plainText(value) { return Number.isFinite(value) ? digits(value, 6) : kUnknown; }

function percentText(part, whole) {
  return whole > 0 && Number.isFinite(part) ? digits(100 * part / whole, 3) + " %" : kUnknown;
}

// The largest of 1, 2, 5 times a power of ten with which a range has at least `least` ticks.
function niceStep(range, least) {
  const power = 10 ** Math.floor(Math.log10(range / least));
  return [5, 2, 1].map((n) => n * power).find((step) => range / step >= least) || power;
}

// Ticks of bytes are round in the unit in which they are written, those of hours in hours.
function linearTicks(lo, hi, least, unit) {
  const range = hi - lo;
  if (!(range > 0)) return [lo];
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  const factor = unit === "bytes" ? 1024 ** Math.max(0, Math.floor(Math.log2(size) / 10)) : 1;
  const step = niceStep(range / factor, least) * factor;
  const ticks = [];
  for (let n = Math.ceil(lo / step - 1e-9); n * step <= hi + 1e-9 * range; ++n)
    ticks.push(n * step + 0);  // no "-0"
  return ticks;
}

function logTicks(lo, hi) {
  const ticks = [];
  const decades = Math.log10(hi / lo);
  const factors = decades > 3 ? [1] :
      decades > 0.7           ? [1, 2, 5] :
                                [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  for (let power = Math.floor(Math.log10(lo)); power <= Math.log10(hi); ++power)
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= lo && tick <= hi) ticks.push(tick);
    }
  return ticks.length > 1 ? ticks : linearTicks(lo, hi, 3);
}
