"use strict";
// All text from files is set as text, never as HTML. Plotly reads tags in its texts: `safe` takes their meaning away.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const safe = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const unique = (values) => [...new Set(values)];
const methods = unique(data.rows.map((row) => row.method));
const PAGE = 200;
const WITHOUT = "no schedule", FAILED = "failed"; // no statuses, but choices among them
const state = { problem: "", instance: "", status: "", methods: new Set(methods), sort: null, down: false, shown: PAGE };

// Numbers -----------------------------------------------------------------------------------------------------------
const number = (value, digits = 6) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(digits))));
function percent(value) {
  if (value === null || value === undefined) return "–";
  if (value !== 0 && Math.abs(value) < 1e-6) return "<0.0001 %";
  if (value !== 0 && Math.abs(value) < 1e-4) return `${Number((100 * value).toPrecision(2))} %`;
  return `${(100 * value).toFixed(2)} %`;
}
function shiftedMean(values, shift) {
  if (!values.length) return null;
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value + shift), 0) / values.length) - shift;
}
function median(values) {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
const counted = (rows) => rows.filter((row) => row.counted !== null).sort((a, b) => a.counted - b.counted);
const hasFailed = (row) => data.failed.includes(row.status);
const boundsOnly = (rows) => rows.every((row) => row.objective === null);

// What is selected --------------------------------------------------------------------------------------------------
function hasStatus(row, status) {
  if (status === FAILED) return hasFailed(row);
  return status === WITHOUT ? row.objective === null && !hasFailed(row) : row.status === status;
}
function selected() {
  const part = state.instance.toLowerCase();
  return data.rows.filter((row) => (!state.problem || row.problem === state.problem) &&
    (!state.status || hasStatus(row, state.status)) && state.methods.has(row.method) &&
    row.instance.toLowerCase().includes(part));
}
function summaries(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify([row.problem, row.method]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  const found = [...groups.values()].map((group) => {
    const gaps = boundsOnly(group) ? [] : counted(group);
    return {
      problem: group[0].problem, method: group[0].method, rows: group, gaps,
      failed: group.filter(hasFailed), without: group.filter((row) => hasStatus(row, WITHOUT)), optimal: group.filter((row) => row.status === "optimal"),
      mean: shiftedMean(gaps.map((row) => row.counted), data.gapShift), median: median(gaps.map((row) => row.counted)),
      seconds: shiftedMean(group.filter((row) => row.status !== data.refused).map((row) => row.wall_seconds), data.secondsShift),
    };
  });
  const last = (value) => (value === null ? Infinity : value);
  return found.sort((a, b) => (a.problem < b.problem ? -1 : a.problem > b.problem ? 1 : last(a.mean) - last(b.mean) || 0));
}

// Tables ------------------------------------------------------------------------------------------------------------
function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
function link(text, hash) {
  const made = element("a", text);
  made.href = `#${hash}`;
  return made;
}
const runLink = (text, row) => link(text, `run=${row.id}`);
function rowsLink(text, group, status) {
  const words = { problem: group.problem, methods: JSON.stringify([group.method]) };
  if (status) words.status = status;
  return link(text, new URLSearchParams(words));
}
function fill(table, heads, lines) {
  table.replaceChildren();
  const head = table.createTHead().insertRow();
  for (const [text, kind] of heads) head.append(element("th", text, kind));
  const body = table.createTBody();
  for (const line of lines) {
    const row = body.insertRow();
    line.forEach((cell, column) => {
      const made = row.insertCell();
      made.className = heads[column][1] || "";
      made.append(cell);
    });
  }
  return head;
}
function showGaps(groups) {
  const heads = [["problem", "text"], ["method", "text"], ["mean gap"], ["median gap"], ["worst gap"], ["mean seconds"],
    ["runs"], ["failed"], ["no schedule"], ["optimal"]];
  fill($("gaps"), heads, groups.map((group) => {
    const gaps = group.gaps;
    const middle = gaps[(gaps.length - 1) >> 1];
    const worst = gaps[gaps.length - 1];
    return [group.problem, group.method, group.mean === null ? "–" : rowsLink(percent(group.mean), group),
      middle ? runLink(percent(group.median), middle) : "–", worst ? runLink(percent(worst.counted), worst) : "–",
      group.seconds === null ? "–" : rowsLink(number(group.seconds, 3), group), rowsLink(group.rows.length, group),
      ...[[group.failed, FAILED], [group.without, WITHOUT], [group.optimal, "optimal"]].map(([own, status]) =>
        (own.length ? rowsLink(own.length, group, status) : "0"))];
  }));
}
function showBest(groups) {
  const heads = [["problem", "text"], ["best method", "text"], ["mean gap, in"], ["next method", "text"],
    ["mean gap, in"], ["next is worse by"], ["best or equal on"]];
  const problems = unique(groups.map((group) => group.problem));
  fill($("best"), heads, problems.map((problem) => {
    const [best, next] = groups.filter((group) => group.problem === problem && group.mean !== null);
    if (!best) return [problem, "no method has a gap", "–", "–", "–", "–", "–"];
    const wins = winsOf(best, groups.filter((group) => group.problem === problem));
    const more = next ? next.mean - best.mean : null;
    const worse = more === null ? "–" : more <= data.tolerance ? "equal" : `${number(100 * more, 3)} points`;
    return [problem, rowsLink(best.method, best), meansOf(best),
      ...(next ? [rowsLink(next.method, next), meansOf(next)] : ["no other has a schedule", "–"]), worse, wins];
  }));
}
const meansOf = (group) => `${percent(group.mean)}, ${number(group.seconds, 3)} s`;
function winsOf(best, groups) {
  const least = new Map();
  for (const row of groups.flatMap((group) => group.gaps)) {
    least.set(row.case, Math.min(row.counted, least.get(row.case) ?? Infinity));
  }
  const won = best.gaps.filter((row) => row.objective !== null && row.counted <= least.get(row.case) + data.tolerance);
  return `${won.length} of ${least.size}`;
}
const COLUMNS = [["run", "id", String, ""], ["problem", "problem", String, "text"],
  ["instance", "instance", String, "text long"], ["method", "method", String, "text"], ["seed", "seed", String, ""],
  ["status", "status", (text) => text.replaceAll("_", " "), "text"], ["objective", "objective", number, ""], ["bound", "bound", number, ""],
  ["best bound", "best_bound", number, ""], ["gap", "gap", percent, ""], ["seconds", "wall_seconds", (x) => number(x, 3), ""],
  ["root gap", "root_gap", percent, ""], ["primal integral [s]", "primal_integral", (x) => number(x, 3), ""],
  ["s to 1 %", "seconds_to_1_percent", (x) => number(x, 3), ""], ["s to 0.1 %", "seconds_to_0.1_percent", (x) => number(x, 3), ""]];
function compared(a, b) {
  const missing = (value) => value === null || value === undefined;
  const [x, y] = [a[state.sort], b[state.sort]];
  if (missing(x) || missing(y)) return missing(x) - missing(y);
  const order = x < y ? -1 : x > y ? 1 : a.id - b.id;
  return state.down ? -order : order;
}
function showRuns(rows) {
  const sorted = state.sort === null ? rows : [...rows].sort(compared);
  const lines = sorted.slice(0, state.shown).map((row) => COLUMNS.map(([, key, show, kind]) => {
    const text = show(row[key]);
    return kind || text === "–" ? text : runLink(text, row);
  }));
  const head = fill($("runs"), COLUMNS.map(([name, , , kind]) => [name, kind]), lines);
  [...head.cells].forEach((cell, column) => {
    const key = COLUMNS[column][1];
    cell.tabIndex = 0;
    if (state.sort === key) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
    const sort = () => {
      state.down = state.sort === key && !state.down;
      state.sort = key;
      showRuns(selected());
    };
    cell.onclick = sort;
    cell.onkeydown = (event) => { if (event.key === "Enter") sort(); };
  });
  $("more").hidden = sorted.length <= state.shown;
  $("more").textContent = `Show more of ${sorted.length} runs`;
}

// Charts ------------------------------------------------------------------------------------------------------------
const DASHES = ["solid", "dash", "dashdot", "dot"];
function lineOf(method) {
  const place = methods.indexOf(method);
  const palette = data.palette;
  return { color: palette[place % palette.length], dash: DASHES[Math.floor(place / palette.length) % DASHES.length], width: 2 };
}
function draw(id, traces, xaxis, yaxis, more = {}) {
  const ink = getComputedStyle(document.body).color;
  const grid = { gridcolor: "rgba(128,128,128,.25)", linecolor: "rgba(128,128,128,.6)", zeroline: false, automargin: true };
  const layout = { margin: { l: 56, r: 8, t: 8, b: 44 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: ink, family: "system-ui, sans-serif", size: 12 }, showlegend: true,
    legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom" }, xaxis: { ...grid, ...xaxis }, yaxis: { ...grid, ...yaxis }, ...more };
  Plotly.react(id, traces, layout, { responsive: true, displayModeBar: false });
}
function showProfile(rows) {
  const cases = new Map(unique(rows.map((row) => row.problem)).map((problem) =>
    [problem, new Set(counted(rows.filter((row) => row.problem === problem)).map((row) => row.case)).size]));
  const least = 100 * data.tolerance;
  const drawn = unique(rows.map((row) => row.method)).map((method) => {
    const own = rows.filter((row) => row.method === method && row.counted !== null && row.objective !== null);
    const gaps = own.map((row) => Math.max(100 * row.counted, least)).sort((a, b) => a - b);
    const tried = unique(rows.filter((row) => row.method === method).map((row) => row.problem));
    return { method, gaps, count: tried.reduce((sum, problem) => sum + cases.get(problem), 0) };
  }).filter(({ gaps }) => gaps.length);
  const largest = Math.max(100 * least, ...drawn.map(({ gaps }) => gaps[gaps.length - 1])) * 2;
  const traces = drawn.map(({ method, gaps, count }) => ({ name: safe(method), mode: "lines", line: { ...lineOf(method), shape: "hv" },
    x: [least / 2, ...gaps, largest], y: [0, ...gaps.map((_, place) => (100 * (place + 1)) / count), (100 * gaps.length) / count],
    hovertemplate: "%{y:.0f} % within %{x:.3g} %" }));
  draw("profile", traces, { type: "log", title: { text: "gap [%]" }, exponentformat: "none", dtick: 1 },
    { title: { text: "share of cases [%]" }, range: [0, 103] });
}
function showTime(rows) {
  const least = 100 * data.tolerance;
  const traces = [];
  for (const method of unique(rows.map((row) => row.method))) {
    const own = rows.filter((row) => row.method === method && row.counted !== null);
    if (boundsOnly(own) || !own.some((row) => row.gaps)) continue;
    const middle = data.moments.map((_, place) => median(own.filter((row) => row.gaps || row.objective === null)
      .map((row) => (row.gaps ? row.gaps[place] : 1))));
    traces.push({ name: safe(method), mode: "lines", line: { ...lineOf(method), shape: "hv" }, x: data.moments,
      y: middle.map((value) => Math.max(100 * value, least)), hovertemplate: "%{y:.3g} % at %{x:.3g} s" });
  }
  draw("time", traces, { type: "log", title: { text: "wall time [s]" }, exponentformat: "none", dtick: 1 },
    { type: "log", title: { text: "median gap [%]" }, exponentformat: "none", ...ticksOf(traces.flatMap((trace) => trace.y)) });
}
function ticksOf(values) { // of a logarithmic axis: at 1, 2 and 5 where it has few decades
  const decades = [...Array(12).keys()].map((power) => power - 6);
  const all = decades.flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`)));
  return Math.max(...values) < 1000 * Math.min(...values) ? { tickvals: all, ticktext: all.map(String) } : { dtick: 1 };
}
function showOnline() {
  if (!data.online.length) return;
  $("online").hidden = false;
  const policies = unique(data.online.map((row) => row.policy));
  const causes = unique(data.online.flatMap((row) => Object.keys(row.parts)));
  const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);
  const traces = causes.map((cause, place) => ({ name: safe(cause), type: "bar", marker: { color: data.palette[place % data.palette.length] },
    x: policies.map(safe), y: policies.map((policy) => mean(data.online.filter((row) => row.policy === policy)
      .map((row) => row.parts[cause]).filter((value) => value !== null && value !== undefined).map((value) => 100 * value))) }));
  draw("causes", traces, {}, { title: { text: "excess [%]" } }, { barmode: "relative" });
}

// Schedules and single runs -----------------------------------------------------------------------------------------
const named = (row) => `${row.instance}, ${row.method}, seed ${row.seed}`;
function showPicture() {
  const chosen = data.pictures.find((picture) => String(picture.id) === $("solution").value);
  $("images").replaceChildren();
  if (!chosen) return;
  for (const [name, content] of Object.entries(chosen.images)) {
    const picture = element("img");
    picture.alt = `${name}: ${named(data.rows[chosen.id])}`;
    picture.src = `data:image/png;base64,${content}`;
    $("images").append(element("h3", name), picture);
  }
  const about = element("p");
  about.append("All of ", runLink(`run ${chosen.id}`, data.rows[chosen.id]));
  $("images").append(about);
}
function showRun(row) {
  const box = $("run");
  box.replaceChildren(element("h2", `Run ${row.id}: ${named(row)}`));
  const facts = element("dl");
  const told = [...COLUMNS.slice(1).map(([name, key, show]) => [name, show(row[key])]), ["date", row.date ?? "–"]];
  if (row.message) told.push(["message", row.message]);
  for (const [name, text] of told) facts.append(element("dt", name), element("dd", text));
  const again = element("dd");
  again.append(element("code", row.command));
  facts.append(element("dt", "again"), again);
  box.append(facts);
  if (data.pictures.some((picture) => picture.id === row.id)) {
    $("solution").value = String(row.id);
    showPicture();
    const below = element("p");
    below.append(link("Its schedule is drawn below", "pictures"));
    box.append(below);
  }
  box.hidden = false;
  box.scrollIntoView();
}

// The page ----------------------------------------------------------------------------------------------------------
function show() {
  const rows = selected();
  const groups = summaries(rows);
  showBest(groups);
  showGaps(groups);
  showProfile(rows);
  showTime(rows);
  showRuns(rows);
  $("count").textContent = `${rows.length} of ${data.rows.length} runs`;
}
function choices(id, values, all) {
  const options = [["", all], ...values.map((value) => [value, value.replaceAll("_", " ")])];
  $(id).replaceChildren(...options.map(([value, text]) => new Option(text, value)));
  $(id).onchange = () => { state[id] = $(id).value; changed(); };
}
function changed() {
  state.shown = PAGE;
  show();
}
function reset(words) {
  state.problem = words.get("problem") ?? "";
  state.instance = words.get("instance") ?? "";
  state.status = words.get("status") ?? "";
  let wanted = methods;
  try { wanted = JSON.parse(words.get("methods") ?? "null") ?? methods; } catch { /* a link that was cut short */ }
  state.methods = new Set(wanted);
  for (const id of ["problem", "instance", "status"]) $(id).value = state[id];
  for (const box of $("methods").querySelectorAll("input")) box.checked = state.methods.has(box.value);
  changed();
}
function follow() {
  const words = new URLSearchParams(location.hash.slice(1));
  const row = words.has("run") ? data.rows[Number(words.get("run"))] : undefined;
  if (row) return showRun(row);
  if (["problem", "instance", "status", "methods"].some((name) => words.has(name))) {
    reset(words);
    $("runs").scrollIntoView();
  }
}
choices("problem", unique(data.rows.map((row) => row.problem)), "all");
choices("status", [...unique(data.rows.map((row) => row.status)), FAILED, WITHOUT], "all");
for (const method of methods) {
  const label = element("label");
  const box = element("input");
  Object.assign(box, { type: "checkbox", checked: true, value: method });
  box.onchange = () => { state.methods[box.checked ? "add" : "delete"](method); changed(); };
  label.append(box, method);
  $("methods").append(label);
}
$("instance").oninput = () => { state.instance = $("instance").value; changed(); };
$("all").onclick = () => { history.replaceState(null, "", "#"); $("run").hidden = true; reset(new URLSearchParams()); };
$("more").onclick = () => { state.shown += PAGE; showRuns(selected()); };
if (data.pictures.length) {
  $("pictures").hidden = false;
  $("solution").replaceChildren(...data.pictures.map(({ id }) => new Option(named(data.rows[id]), id)));
  $("solution").onchange = showPicture;
  showPicture();
}
if (data.faults.length) {
  $("faults").hidden = false;
  $("faults").textContent = `Not drawn: ${data.faults.join("; ")}`;
}
addEventListener("hashchange", follow);
show();
showOnline();
follow();
