// Draws the page's charts from the JSON in it. Each chart is a function from the chosen runs to a specification
// (axes, series, text, table), and one function draws them all; a chart without data says what would give it some.
//
// Every figure says what has been drawn: data-drawn, data-series, data-points (a number a series) and, if the
// address has ?check, data-ink: the pixels that are of each series' colour.
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
// ?scene=NAME chooses a scene, ?check counts pixels.
const query = new URLSearchParams(location.search);
const check = query.has('check');
const root = document.documentElement;
root.dataset.errors = '0';
window.addEventListener('error', () => { root.dataset.errors = String(+root.dataset.errors + 1); });

const STAGES = ['bounds', 'broadphase', 'narrowphase', 'contacts', 'solver', 'islands'];
const ENGINES = { granule: 'Granule', box2d: 'Box2D', rapier: 'Rapier' };
const FRAME = 1000 / 60;
const MAX_SERIES = 8;
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

// ---- Helpers

const $ = id => document.getElementById(id);
const el = (tag, attributes, ...children) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
};
// Asked for once a drawing: each question after a change makes the browser style the whole page.
let palette = {};
const colour = name => palette[name];
const unique = list => [...new Set(list)];
const by = (...keys) => (a, b) => keys.reduce((order, key) => order || (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0), 0);
const sum = list => list.reduce((total, value) => total + value, 0);
const groups = (list, key) => {
  const map = new Map();
  for (const item of list) {
    const name = key(item);
    if (!map.has(name)) map.set(name, []);
    map.get(name).push(item);
  }
  return map;
};
// Three significant digits, without an exponent where that is readable.
const format = value => {
  if (value == null || !isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e6) return value >= 1e9 ? value.toExponential(2) : trim((value / 1e6).toPrecision(3)) + ' M';
  if (size >= 1000) return Math.round(value).toLocaleString('en').replace(/,/g, '\u202f');
  if (size < 1e-4) return value.toExponential(1);
  return trim(value.toPrecision(3));
};
const trim = text => text.includes('.') ? text.replace(/\.?0+$/, '') : text;
const whole = value => value.toLocaleString('en').replace(/,/g, '\u202f');
const times = value => format(value) + '×';
const compact = value => value >= 1e6 ? trim((value / 1e6).toPrecision(3)) + 'M'
  : value >= 1000 ? trim((value / 1000).toPrecision(3)) + 'k' : trim(String(+value.toPrecision(3)));
const cut = (text, length) => text.length > length ? text.slice(0, length - 1) + '…' : text;
const plural = (number, noun) => number + ' ' + noun + (number === 1 ? '' : 's');

// ---- What is chosen

const runs = data.runs.map((run, index) => ({ ...run, index }));
const key = run => [run.scene, run.machine, run.settings, run.n, run.threads, run.lanes].join();
const scenes = unique(runs.map(run => run.scene));
const state = { scene: -1, machine: runs.length ? runs[runs.length - 1].machine : 0, run: -1 };

// The newest run of each configuration that is chosen, newest first.
const latest = () => {
  const newest = new Map();
  for (const run of runs) if (chosen(run)) newest.set(key(run), run);
  return [...newest.values()].sort(by(run => -run.time, run => -run.index));
};
const chosen = item => item.machine === state.machine && (state.scene < 0 || item.scene === state.scene);

// What tells a run from the others: what they all share is left out.
const labels = list => {
  const differ = field => unique(list.map(run => run[field])).length > 1;
  const parts = [
    ['scene', run => data.scenes[run.scene]],
    ['n', run => compact(run.n) + (run.n === 1 ? ' body' : ' bodies')],
    ['threads', run => plural(run.threads, 'thread')],
    ['lanes', run => plural(run.lanes, 'lane')],
    ['settings', run => data.settings[run.settings]],
  ].filter(([field]) => differ(field));
  return run => parts.map(([, text]) => text(run)).join(', ') || data.scenes[run.scene];
};

// Lines of runs over one of their fields: of each scene, or of all settings of the scene that is chosen. A line is
// of runs that differ in nothing else; those with the most points are first.
const lines = (field, least) => {
  const others = ['scene', 'settings', 'n', 'threads', 'lanes'].filter(other => other !== field);
  const all = [...groups(latest(), run => others.map(other => run[other]).join()).values()]
    .filter(line => line.length >= least)
    .map(line => line.sort(by(run => run[field])))
    .sort(by(line => -line.length, line => -line[0].n, line => -line[0].lanes, line => -line[0].threads));
  if (state.scene >= 0) return all;
  const first = [...groups(all, line => line[0].scene).values()].map(list => list[0]);
  return first.sort(by(line => -line.length, line => data.scenes[line[0].scene]));
};

// ---- The charts: specifications

// Series over the union of their x, with gaps.
const table = (lists, x, y) => {
  const xs = unique(lists.flat().map(x)).sort((a, b) => a - b);
  return { xs, ys: lists.map(list => {
    const values = new Map(list.map(item => [x(item), y(item)]));
    return xs.map(at => values.get(at) ?? null);
  }) };
};
const few = list => [list.slice(0, MAX_SERIES), list.length > MAX_SERIES
  ? `The first ${MAX_SERIES} of ${list.length} series${state.scene < 0 ? '; choose a scene for its own' : ''}.` : ''];

const charts = {
  distribution() {
    const run = current();
    if (!run || !run.counts.length) return { empty: 'This run has no times of single steps.' };
    const base = baseline(run);
    const shown = base && base.counts.length ? [run, base] : [run];
    const from = Math.min(...shown.map(item => item.first));
    const to = Math.max(...shown.map(item => item.first + item.counts.length));
    const count = (item, bin) => item.counts[bin - item.first] ?? 0;
    const xs = [];
    for (let bin = from; bin < to; bin++) xs.push(2 ** ((bin + .5) / data.bins));
    const share = item => xs.map((_, i) => 100 * count(item, from + i) / sum(item.counts) || null);
    const marks = [['p50', run.p50], ['p95', run.p95], ['p99', run.p99]]
      .map(([name, ms]) => ({ x: ms, text: `${name} ${format(ms)}`, colour: 'text' }));
    const over = share => trim(share.toFixed(1));
    const late = sum(run.counts.map((n, i) => 2 ** ((run.first + i) / data.bins) >= FRAME ? n : 0)) / sum(run.counts);
    return {
      x: { kind: 'log', label: 'ms', pad: 1.06, include: [FRAME] },
      y: { label: '% of the steps', zero: true },
      xs,
      series: shown.map((item, i) => ({ label: i ? `baseline, ${data.commits[item.commit]}` : `this run, ${data.commits[item.commit]}`,
        values: share(item), kind: i ? 'steps' : 'histogram', colour: i ? 's1' : 's0', unit: ' %' })),
      marks: [...marks, { x: FRAME, text: '16.7 ms', colour: 'bad', dash: [5, 4] }],
      summary: `${name(run)}: p50 ${format(run.p50)} ms, p95 ${format(run.p95)} ms, p99 ${format(run.p99)} ms, `
        + `at most ${format(run.max)} ms; ${over(100 * late)} % of ${run.steps} steps take a frame of 16.7 ms or more.`,
      head: ['from ms', 'to ms', ...shown.map((_, i) => i ? 'baseline, steps' : 'steps')],
      rows: xs.map((_, i) => [format(2 ** ((from + i) / data.bins)), format(2 ** ((from + i + 1) / data.bins)),
        ...shown.map(item => count(item, from + i))]),
    };
  },

  stages() {
    const found = lines('n', 1);
    const all = state.scene < 0;
    const bars = all ? found.map(line => line[line.length - 1]).sort(by(run => data.scenes[run.scene])) : found[0] ?? [];
    if (!bars.length) return { empty: 'No run is chosen.' };
    const label = run => all ? data.scenes[run.scene] : compact(run.n);
    const perBody = (run, stage) => 1e6 * run.stages[stage] / Math.max(run.n, 1);
    // Sums, the largest first: what is drawn later lies on top.
    const series = STAGES.map((stage, i) => ({
      label: stage, colour: 's' + i, kind: 'bars',
      values: bars.map(run => sum(STAGES.slice(0, i + 1).map((_, j) => perBody(run, j)))),
      shown: bars.map(run => perBody(run, i)), unit: ' ns',
    }));
    return {
      x: { kind: 'names', names: bars.map(label), label: all ? '' : 'bodies' },
      y: { label: 'ns per body and step', zero: true },
      xs: bars.map((_, i) => i), series: series.reverse(), fixed: true,
      note: all ? 'Of each scene, the run of the most bodies.' : `${plural(bars[0].threads, 'thread')}, ${plural(bars[0].lanes, 'lane')}, ${data.settings[bars[0].settings]}.`,
      summary: bars.map(run => `${label(run)}: ` + STAGES.map((stage, i) => `${stage} ${format(perBody(run, i))}`).join(', '))
        .join('; ') + ' (ns per body).',
      head: [all ? 'scene' : 'bodies', ...(all ? ['bodies'] : []), ...STAGES.map(stage => stage + ' ns'), 'all ns'],
      rows: bars.map(run => [label(run), ...(all ? [whole(run.n)] : []), ...STAGES.map((_, i) => format(perBody(run, i))),
        format(sum(STAGES.map((_, i) => perBody(run, i))))]),
    };
  },

  flatness() {
    const [found, note] = few(lines('n', 1));
    if (!found.length) return { empty: 'No run is chosen.' };
    const label = labels(found.map(line => line[0]).map(run => ({ ...run, n: 0 })));
    const { xs, ys } = table(found, run => run.n, run => run.ns);
    return {
      x: { kind: 'log', label: 'bodies', text: compact, pad: 1.3 }, y: { label: 'ns per body and step', zero: true },
      xs, series: found.map((line, i) => ({ label: label(line[0]), values: ys[i], kind: 'line', unit: ' ns' })), note,
      summary: found.map(line => `${label(line[0])}: ` + line.map(run => `${format(run.ns)} ns at ${compact(run.n)}`).join(', ')).join('; ') + '.',
      head: ['series', 'bodies', 'ns per body', 'p50 ms'],
      rows: found.flatMap(line => line.map(run => [label(line[0]), whole(run.n), format(run.ns), format(run.p50)])),
    };
  },

  threads() {
    const [found, note] = few(lines('threads', 2).filter(line => line[0].threads === 1));
    if (!found.length) return { empty: 'This needs a run on one thread, and others that differ in the threads alone.' };
    const label = labels(found.map(line => ({ ...line[0], threads: 0 })));
    const speed = line => run => line[0].p50 / run.p50;
    const xs = unique(found.flat().map(run => run.threads)).sort((a, b) => a - b);
    const series = found.map(line => {
      const values = new Map(line.map(run => [run.threads, speed(line)(run)]));
      return { label: label(line[0]), values: xs.map(x => values.get(x) ?? null), kind: 'line', unit: '×' };
    });
    return {
      x: { kind: 'whole', label: 'threads' }, y: { label: 'times as fast', zero: true }, xs,
      series: [...series, { label: 'ideal', values: xs, kind: 'line', colour: 'dim', dash: [4, 4], bare: true, unit: '×' }], note,
      summary: found.map(line => `${label(line[0])}: ` + line.map(run => `${times(speed(line)(run))} on ${run.threads}`).join(', ')).join('; ') + '.',
      head: ['series', 'threads', 'p50 ms', 'speed-up'],
      rows: found.flatMap(line => line.map(run => [label(line[0]), run.threads, format(run.p50), times(speed(line)(run))])),
    };
  },

  lanes() {
    const [found, note] = few(lines('lanes', 2).filter(line => line[0].lanes === 1));
    if (!found.length) return { empty: 'This needs a run with one lane, and others that differ in the lanes alone.' };
    const label = labels(found.map(line => ({ ...line[0], lanes: 0 })));
    const widths = unique(found.flat().map(run => run.lanes)).sort((a, b) => a - b);
    const speed = (line, width) => { const run = line.find(run => run.lanes === width); return run ? line[0].p50 / run.p50 : null; };
    return {
      x: { kind: 'names', names: widths.map(String), label: 'lanes' }, y: { label: 'times as fast', zero: true },
      xs: widths.map((_, i) => i), note,
      series: found.map(line => ({ label: label(line[0]), values: widths.map(width => speed(line, width)), kind: 'line', unit: '×' })),
      summary: found.map(line => `${label(line[0])}: ` + line.map(run => `${times(speed(line, run.lanes))} with ${run.lanes}`).join(', ')).join('; ') + '.',
      head: ['series', 'lanes', 'p50 ms', 'speed-up'],
      rows: found.flatMap(line => line.map(run => [label(line[0]), run.lanes, format(run.p50), times(speed(line, run.lanes))])),
    };
  },

  penetration() {
    const own = latest().filter(run => run.penetration > 0 && run.p50 > 0);
    const peers = data.quality.filter(run => run.penetration > 0 && (state.scene < 0 || run.case.startsWith(data.scenes[state.scene])));
    const series = [...groups(peers, run => (ENGINES[run.engine] ?? run.engine) + (run.engine === 'granule' ? ', ' + run.solver : '')
      + ` (${run.case})`).entries()];
    const points = [
      ...(own.length ? [['runs of this page', own.map(run => ({ ms: run.p50, depth: run.penetration, what: name(run) }))]] : []),
      ...series.map(([label, list]) => [label, list.map(run => ({ ms: run.ms, depth: run.penetration,
        what: `${run.case}, ${run.settings}, ${plural(run.threads, 'thread')}` }))]),
    ].slice(0, MAX_SERIES);
    if (!points.length) return { empty: 'No run is chosen that has contacts.' };
    const xs = points.flatMap(([, list]) => list.map(point => point.ms)).sort((a, b) => a - b);
    // Two points of one x are two columns.
    const used = new Set();
    const place = point => { let i = xs.indexOf(point.ms); while (used.has(i)) i++; used.add(i); return i; };
    return {
      x: { kind: 'log', label: 'ms, median step', pad: 1.15 }, y: { kind: 'log', label: 'mm, mean', pad: 1.2 }, xs,
      series: points.map(([label, list]) => {
        const values = xs.map(() => null);
        for (const point of list) values[place(point)] = 1e3 * point.depth;
        return { label, values, kind: 'points', unit: ' mm' };
      }),
      summary: points.map(([label, list]) => `${label}: ` + plural(list.length, 'point') + `, from ${format(Math.min(...list.map(p => p.ms)))} ms`
        + ` to ${format(Math.max(...list.map(p => p.ms)))} ms`).join('; ') + '.',
      head: ['series', 'what', 'p50 ms', 'mean penetration mm'],
      rows: points.flatMap(([label, list]) => list.map(point => [label, point.what, format(point.ms), format(1e3 * point.depth)])),
    };
  },

  history() {
    const all = data.series.filter(chosen).sort(by(line => -line.points.length,
      line => -sum(line.points.map(point => point.runs.length)), line => -line.n));
    const many = all.filter(line => line.points.length > 1);
    // A regression is shown even if its series has few points.
    const sorted = [...many.filter(line => line.points.some(point => point.beyond)), ...many.filter(line => !line.points.some(point => point.beyond))];
    if (!sorted.length) return { empty: 'This needs runs of one configuration at two commits.' };
    const [found, note] = few(sorted);
    const label = labels(found);
    const commits = unique(found.flatMap(line => line.points.map(point => point.commit))).sort((a, b) => a - b);
    const values = line => {
      const of = new Map(line.points.map(point => [point.commit, point.ms / line.points[0].ms]));
      return commits.map(commit => of.get(commit) ?? null);
    };
    const rings = found.flatMap((line, i) => line.points.filter(point => point.beyond)
      .map(point => ({ series: i, index: commits.indexOf(point.commit), dash: point.regressed ? [] : [3, 3] })));
    const verdict = point => point.regressed ? 'regression' : point.beyond ? 'suspect' : point.ratio ? 'as before' : 'too little history';
    return {
      x: { kind: 'names', names: commits.map(commit => data.commits[commit]), label: 'commit' },
      y: { label: 'times the first', pad: .08 }, xs: commits.map((_, i) => i),
      series: found.map(line => ({ label: label(line), values: values(line), kind: 'line', unit: '×' })), note, rings,
      summary: found.map(line => { const marked = line.points.filter(point => point.beyond);
        return `${label(line)}: ${plural(line.points.length, 'commit')}, ` + (marked.length
          ? marked.map(point => `${verdict(point)} at ${data.commits[point.commit]} (${times(point.ratio[0])})`).join(', ') : 'no regression'); }).join('; ') + '.',
      head: ['series', 'commit', 'runs', 'p10 ms', 'ratio to the runs before', '99 % interval', 'verdict'],
      rows: found.flatMap(line => line.points.map(point => [label(line), data.commits[point.commit], point.runs.length, format(point.ms),
        point.ratio ? times(point.ratio[0]) : '–', point.ratio ? `${format(point.ratio[1])}–${format(point.ratio[2])}` : '–', verdict(point)])),
    };
  },

  peers() {
    const cases = [...groups(data.peers, run => run.case + ' ' + run.threads).values()]
      .map(list => ({ name: list[0].case, n: list[0].n, threads: list[0].threads, list, own: list.find(run => run.engine === 'granule') }))
      .filter(item => item.own && item.list.length > 1);
    if (!cases.length) return { empty: 'This needs peers.json next to the records; benches/peers writes it.' };
    const threads = Math.max(...cases.map(item => item.threads));
    const shown = cases.filter(item => item.threads === threads);
    const engines = unique(cases.flatMap(item => item.list.map(run => run.engine))).filter(engine => engine !== 'granule').slice(0, 2);
    const find = (item, engine) => item.list.find(run => run.engine === engine);
    const ratio = (item, engine, of = 'ms') => { const run = find(item, engine); return run?.[of] && item.own[of] ? run[of] / item.own[of] : null; };
    const fastest = (item, of) => { const ratios = engines.map(engine => ratio(item, engine, of)).filter(value => value != null);
      return ratios.length ? Math.min(...ratios) : null; };
    const label = engine => ENGINES[engine] ?? engine;
    // Of the mean and the 99th percentile the least ratio; both engines' are in the table.
    const further = [['mean', 'mean'], ['p99', '99th percentile']].filter(([of]) => shown.some(item => fastest(item, of) != null));
    const cell = value => value == null ? '–' : format(value);
    const cells = (item, engine) => { const run = find(item, engine);
      return [['ms'], ...further].flatMap(([of]) => [cell(run?.[of]), ratio(item, engine, of) == null ? '–' : times(ratio(item, engine, of))]); };
    const heads = engine => [['ms', 'ms'], ...further.map(([of]) => [of, of + ' ms'])].flatMap(([, name]) => [`${label(engine)} ${name}`, 'ratio']);
    const told = item => `${item.name}: ` + [...engines.map(engine => `${label(engine)} ${times(ratio(item, engine))}`),
      ...further.filter(([of]) => fastest(item, of) != null).map(([of, name]) => `${name} ${times(fastest(item, of))}`)].join(', ');
    return {
      x: { kind: 'names', names: shown.map(item => item.name), label: '' }, y: { label: 'times the time of Granule', zero: true },
      xs: shown.map((_, i) => i),
      series: [...engines.map((engine, i) => ({ label: label(engine), values: shown.map(item => ratio(item, engine)),
        kind: 'bars', side: engines.length > 1 ? (i ? 1 : -1) : 0, unit: '×' })),
      ...further.map(([of, name]) => ({ label: `${name}, the faster`, values: shown.map(item => fastest(item, of)), kind: 'points', unit: '×' }))],
      levels: [{ y: 1, text: 'Granule' }],
      note: `On ${plural(threads, 'thread')}; others are in the table.`,
      summary: shown.map(told).join('; ') + '.',
      head: ['case', 'bodies', 'threads', 'Granule ms', ...further.map(([of]) => `Granule ${of} ms`), ...engines.flatMap(heads)],
      rows: cases.map(item => [item.name, whole(item.n), item.threads, format(item.own.ms), ...further.map(([of]) => cell(item.own[of])),
        ...engines.flatMap(engine => cells(item, engine))]),
    };
  },

  criterion() {
    const found = data.criterion;
    if (!found.length) return { empty: 'This needs granule report --criterion target/criterion, after cargo bench.' };
    const few = found.length <= 24;
    return {
      x: { kind: 'names', names: found.map((item, i) => !few ? String(i + 1) : item.name.length > 18 ? '…' + item.name.slice(-17) : item.name), label: few ? '' : 'row of the table' },
      y: { kind: 'log', label: 'µs', pad: 1.3 }, xs: found.map((_, i) => i),
      series: [{ label: 'time of an iteration', values: found.map(item => item.ns / 1e3), kind: 'points', unit: ' µs' }],
      summary: found.map(item => `${item.name} ${format(item.ns / 1e3)} µs`).join('; ') + '.',
      head: ['row', 'benchmark', 'µs', 'interval', 'estimate', 'ns per element'],
      rows: found.map((item, i) => [i + 1, item.name, format(item.ns / 1e3),
        item.interval ? item.interval.map(ns => format(ns / 1e3)).join('–') : '–', item.estimate,
        item.throughput ? format(item.ns / item.throughput) : '–']),
    };
  },
};

const name = run => `${data.scenes[run.scene]}, ${setting(run)}`;
const setting = run => `${compact(run.n)} bodies, ${plural(run.threads, 'thread')}, ${plural(run.lanes, 'lane')}`;
const current = () => runs[state.run];

// The newest run of the same configuration at the commit before.
const baseline = run => {
  const line = data.series.find(line => key(line) === key(run) && line.points.some(point => point.runs.includes(run.index)));
  const at = line ? line.points.findIndex(point => point.runs.includes(run.index)) : 0;
  if (at < 1) return null;
  const point = line.points[at - 1];
  return { ...runs[point.runs[point.runs.length - 1]], ms: point.ms, now: line.points[at] };
};

// ---- Drawing

const drawn = {};
let width = 0;

const ticks = (from, to, most) => {
  const sets = [[1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9], [1, 1.5, 2, 3, 4, 5, 7], [1, 2, 5], [1, 3], [1]];
  let best = [];
  for (const set of sets) {
    best = [];
    for (let e = Math.floor(Math.log10(from)); e <= Math.log10(to); e++)
      for (const m of set) { const tick = m * 10 ** e; if (tick >= from * .9999 && tick <= to * 1.0001) best.push(tick); }
    if (best.length <= most) return best;
  }
  const step = Math.ceil(best.length / Math.max(most, 1));
  return best.filter((_, i) => i % step === 0);
};

const FONT = '12px system-ui, sans-serif';
const measure = (() => { const context = document.createElement('canvas').getContext('2d'); context.font = FONT;
  return text => context.measureText(text).width; })();

function scale(axis, values) {
  const finite = values.filter(value => value != null && isFinite(value));
  if (axis.kind === 'names') return { distr: 1, range: [-.55, values.length - .45], time: false };
  let [min, max] = [Math.min(...finite), Math.max(...finite)];
  for (const value of axis.include ?? []) { min = Math.min(min, value); max = Math.max(max, value); }
  if (axis.kind === 'log') return { distr: 3, log: 10, time: false, range: [min / axis.pad, max * axis.pad] };
  if (axis.kind === 'whole') return { time: false, range: [min - .2, max + .2] };
  if (axis.zero) return { time: false, range: [0, (max || 1) * 1.08] };
  const pad = Math.max((max - min) * .12, max * (axis.pad ?? .05));
  return { time: false, range: [min - pad, max + pad] };
}

function axes(spec) {
  const common = { stroke: colour('dim'), font: FONT, labelFont: FONT, grid: { stroke: colour('grid'), width: 1 },
    ticks: { stroke: colour('line'), size: 4 }, gap: 4 };
  const named = axis => ({ label: axis.label || undefined, labelSize: axis.label ? 18 : 0, labelGap: 0 });
  const text = spec.x.text ?? format;
  let x;
  if (spec.x.kind === 'names') {
    const names = spec.x.names.map(item => cut(item, 18));
    const widest = Math.max(...names.map(measure));
    const room = (width - 70) / names.length;
    const turned = widest > room - 6;
    const every = turned ? Math.ceil(17 / room) : 1;
    x = { splits: () => names.map((_, i) => i).filter(i => i % every === 0), values: (_, at) => at.map(i => names[i]),
      rotate: turned ? 55 : 0, size: turned ? 14 + widest * .83 : 24, grid: { show: false } };
  } else if (spec.x.kind === 'log') {
    x = { splits: (u, _, min, max) => ticks(min, max, Math.max(3, width / 58)), filter: (_, at) => at, values: (_, at) => at.map(text), size: 24 };
  } else {
    x = { splits: () => spec.xs, values: (_, at) => at.map(text), size: 24 };
  }
  const y = { values: (_, at) => at.map(value => value == null ? '' : format(value)),
    size: (u, values) => values ? 12 + Math.max(...values.map(measure)) : 40 };
  if (spec.y.kind === 'log') Object.assign(y, { splits: (u, _, min, max) => ticks(min, max, 8), filter: (_, at) => at });
  return [{ ...common, ...named(spec.x), ...x }, { ...common, ...named(spec.y), ...y }];
}

function paths(series) {
  if (series.kind === 'bars') return uPlot.paths.bars({ size: [series.side ? .38 : .7, 64], align: series.side ?? 0 });
  if (series.kind === 'histogram') return uPlot.paths.bars({ size: [1, Infinity], gap: 0 });
  if (series.kind === 'steps') return uPlot.paths.linear();
  if (series.kind === 'points') return () => null;
  return uPlot.paths.linear();
}

// How many rows the labels of an axis of logarithms need above the plot, or one more.
function rows(spec) {
  const [min, max] = scale(spec.x, spec.xs).range.map(Math.log);
  const ends = [];
  for (const mark of [...spec.marks].sort(by(mark => mark.x))) {
    const x = (Math.log(mark.x) - min) / (max - min) * (width - 70);
    const half = measure(mark.text) / 2 + 8;
    const row = ends.findIndex(end => end < x - half);
    ends[row < 0 ? ends.length : row] = x + half;
  }
  // Labels are moved in from the edges, which may push them together.
  return Math.min(ends.length + 1, spec.marks.length);
}

// Lines at an x with a label above the plot, in as many rows as they need not to meet; lines at a y with one in it.
function annotate(u, spec) {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = 'alphabetic';
  ctx.textAlign = 'left';
  const [ends, labels] = [[], []];
  for (const mark of [...spec.marks ?? []].sort(by(mark => mark.x))) {
    const x = Math.round(u.valToPos(mark.x, 'x', true));
    const width = ctx.measureText(mark.text).width;
    const left = Math.max(2 * ratio, Math.min(x - width / 2, u.ctx.canvas.width - width - 2 * ratio));
    let row = ends.findIndex(end => end + 8 * ratio < left);
    if (row < 0) row = ends.length;
    ends[row] = left + width;
    const y = bbox.top - (5 + 14 * row) * ratio;
    ctx.strokeStyle = ctx.fillStyle = colour(mark.colour);
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash((mark.dash ?? []).map(length => length * ratio));
    ctx.beginPath();
    ctx.moveTo(x, y + 2 * ratio);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    labels.push([mark, left, y]);
  }
  // Over all lines, on a ground of their own.
  ctx.setLineDash([]);
  for (const [mark, left, y] of labels) {
    ctx.strokeStyle = colour('panel');
    ctx.lineWidth = 4 * ratio;
    ctx.strokeText(mark.text, left, y);
    ctx.fillStyle = colour(mark.colour);
    ctx.fillText(mark.text, left, y);
  }
  for (const level of spec.levels ?? []) {
    const y = Math.round(u.valToPos(level.y, 'y', true));
    ctx.strokeStyle = ctx.fillStyle = colour('text');
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash([5 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  for (const ring of spec.rings ?? []) {
    if (!u.series[ring.series + 1].show) continue;
    ctx.strokeStyle = colour('bad');
    ctx.lineWidth = 2.5 * ratio;
    ctx.setLineDash(ring.dash.map(length => length * ratio));
    ctx.beginPath();
    ctx.arc(u.valToPos(spec.xs[ring.index], 'x', true), u.valToPos(spec.series[ring.series].values[ring.index], 'y', true), 9 * ratio, 0, 7);
    ctx.stroke();
  }
  ctx.restore();
}

// Pixels of the plot that are nearly of each series' colour.
function ink(u, colours) {
  const { ctx, bbox } = u;
  const found = colours.map(() => 0);
  const wanted = colours.map(text => [1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16)));
  const { data: pixels } = ctx.getImageData(bbox.left, bbox.top, bbox.width, bbox.height);
  for (let at = 0; at < pixels.length; at += 4) {
    if (pixels[at + 3] < 128) continue;
    wanted.forEach(([r, g, b], i) => {
      if (Math.abs(pixels[at] - r) + Math.abs(pixels[at + 1] - g) + Math.abs(pixels[at + 2] - b) < 24) found[i]++;
    });
  }
  return found;
}

function draw(id, spec) {
  const figure = $('chart-' + id);
  const [plot, legend, details] = ['.plot', '.legend', 'details'].map(selector => figure.querySelector(selector));
  drawn[id]?.destroy();
  delete drawn[id];
  figure.querySelector('.status')?.remove();
  plot.replaceChildren();
  legend.replaceChildren();
  figure.classList.toggle('empty', !!spec.empty);
  details.hidden = !!spec.empty;
  Object.assign(figure.dataset, { drawn: 'empty', series: '0', points: '' });
  plot.setAttribute('role', spec.empty ? 'note' : 'img');
  plot.removeAttribute('aria-label');
  if (spec.empty) {
    plot.textContent = spec.empty;
    return;
  }
  plot.setAttribute('aria-label', spec.summary);
  details.querySelector('.scroll').replaceChildren(dataTable(spec));
  if (spec.note) legend.before(el('p', { className: 'status', textContent: spec.note }));

  spec.series.forEach((series, i) => { series.colour ??= 's' + i % 8; series.dash ??= series.kind === 'line' ? DASHES[(i >> 1) % DASHES.length] : []; });
  const values = legendItems(spec, legend, id);
  const colours = spec.series.map(series => colour(series.colour));
  const marks = (spec.marks ?? []).length;
  const [axisX, axisY] = axes(spec);
  const options = {
    width, height: 310,
    padding: [marks ? 8 + 14 * rows(spec) : 10, 14, 0, 4],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { show: spec.series.every(series => series.kind === 'line') } },
    scales: { x: scale(spec.x, spec.xs), y: scale(spec.y, spec.series.flatMap(series => series.values)) },
    axes: [axisX, axisY],
    series: [{}, ...spec.series.map((series, i) => ({
      label: series.label, stroke: colours[i], width: series.kind === 'bars' || series.kind === 'histogram' ? 0 : 2,
      fill: series.kind === 'bars' || series.kind === 'histogram' ? colours[i] : undefined,
      dash: series.dash, spanGaps: true, paths: paths(series),
      points: series.kind === 'line' && !series.bare ? { show: true, size: 7, fill: colours[i], width: 0 }
        : series.kind === 'points' ? { show: true, size: 9, fill: colours[i], width: 0 } : { show: false },
    }))],
    hooks: {
      draw: [u => {
        annotate(u, spec);
        // uPlot's own data and series, not what was asked for.
        Object.assign(figure.dataset, { drawn: 'true', series: String(u.series.length - 1),
          points: u.data.slice(1).map(list => list.filter(value => value != null).length).join() });
        if (check) figure.dataset.ink = ink(u, colours).join();
      }],
      setCursor: [u => {
        const at = u.cursor.idx;
        spec.series.forEach((series, i) => {
          const value = at == null ? null : (series.shown ?? series.values)[at];
          values[i].textContent = value == null ? '' : format(value) + (series.unit ?? '');
        });
        figure.dataset.at = at ?? '';
      }],
    },
  };
  drawn[id] = new uPlot(options, [spec.xs, ...spec.series.map(series => series.values)], plot);
}

// The legend's places for the values under the cursor.
function legendItems(spec, legend, id) {
  return spec.series.map((series, i) => {
    const swatch = el('i', { className: { bars: 'block', histogram: 'block', points: 'dot' }[series.kind] ?? (series.dash.length ? 'dash' : '') });
    swatch.style.color = `var(--${series.colour})`;
    const value = el('span', { className: 'value' });
    if (spec.fixed || spec.series.length < 2) {
      legend.prepend(el('li', {}, swatch, series.label, value));
    } else {
      const button = el('button', { type: 'button' }, swatch, series.label, value);
      button.setAttribute('aria-pressed', 'true');
      button.addEventListener('click', () => {
        const shown = button.getAttribute('aria-pressed') !== 'true';
        button.setAttribute('aria-pressed', shown);
        drawn[id].setSeries(i + 1, { show: shown });
      });
      legend.append(el('li', {}, button));
    }
    return value;
  });
}

function dataTable(spec) {
  const number = cell => typeof cell === 'number' || /^[–\d.\u202f×e-]+( M)?$/.test(cell);
  const numeric = spec.head.map((_, i) => spec.rows.length > 0 && spec.rows.every(row => number(row[i])));
  const cells = (tag, row) => el('tr', {}, ...row.map((cell, i) => el(tag, { className: numeric[i] ? '' : 'text', textContent: cell })));
  return el('table', {}, el('thead', {}, cells('th', spec.head)), el('tbody', {}, ...spec.rows.map(row => cells('td', row))));
}

// ---- The page

function tiles() {
  const run = current();
  const list = $('tiles');
  list.replaceChildren();
  if (!run) return;
  const add = (term, value, note, kind) => list.append(el('div', {}, el('dt', { textContent: term }),
    el('dd', { className: kind ?? '' }, value, ...(note ? [el('span', { className: 'note', textContent: note })] : []))));
  const base = baseline(run);
  add('Bodies', whole(run.n), `${data.scenes[run.scene]}, ${whole(run.contacts)} contacts`);
  add('Median step', format(run.p50) + ' ms', `p99 ${format(run.p99)} ms; ${plural(run.threads, 'thread')}, ${plural(run.lanes, 'lane')}`);
  add('Per body and step', format(run.ns) + ' ns', 'mean of all steps');
  if (base) {
    const ratio = base.now.ms / base.ms;
    const kind = base.now.regressed ? 'bad' : ratio < .97 ? 'good' : '';
    add('To the baseline', times(ratio), `undisturbed step, ${data.commits[run.commit]} by ${data.commits[base.commit]}`, kind);
  } else {
    add('To the baseline', '–', 'no earlier commit has this configuration');
  }
  const points = data.series.filter(chosen).flatMap(line => line.points);
  const [bad, suspect] = [points.filter(point => point.regressed).length, points.filter(point => point.beyond && !point.regressed).length];
  add('Regressions', String(bad), plural(suspect, 'suspect'), bad ? 'bad' : '');
}

function fill(select, options, value) {
  select.replaceChildren(...options.map(([key, text]) => el('option', { value: key, textContent: text })));
  select.value = value;
}

function choose() {
  const list = latest();
  if (!list.some(run => run.index === state.run)) state.run = list.length ? list[0].index : -1;
  const label = labels(list);
  fill($('run'), list.map(run => [run.index, list.length > 1 ? label(run) : name(run)]), state.run);
  for (const row of document.querySelectorAll('#runs tbody tr')) row.hidden = !chosen(runs[row.dataset.run]);
  show();
}

function show() {
  const style = getComputedStyle(root);
  palette = Object.fromEntries(['text', 'dim', 'line', 'grid', 'panel', 'bad', 's0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']
    .map(name => [name, style.getPropertyValue('--' + name).trim()]));
  // All charts are of one width.
  width = $('chart-distribution').querySelector('.plot').clientWidth;
  tiles();
  for (const id in charts) draw(id, charts[id]());
}

function sortable() {
  const body = document.querySelector('#runs tbody');
  const heads = [...document.querySelectorAll('#runs th')];
  heads.forEach((head, column) => {
    const text = head.className === 'text';
    const button = el('button', { type: 'button', textContent: head.textContent });
    head.replaceChildren(button);
    button.addEventListener('click', () => {
      const down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const value = row => { const cell = row.cells[column].textContent; return text ? cell : +cell; };
      const rows = [...body.rows].map(row => [value(row), row]).sort(by(([value]) => value));
      body.append(...(down ? rows.reverse() : rows).map(([, row]) => row));
    });
  });
}

function start() {
  const all = scenes.map(scene => [scene, data.scenes[scene]]).sort(by(([, text]) => text));
  const asked = scenes.find(scene => data.scenes[scene] === query.get('scene'));
  state.scene = asked ?? (scenes.length === 1 ? scenes[0] : -1);
  fill($('scene'), scenes.length === 1 ? all : [[-1, 'all scenes'], ...all], state.scene);
  fill($('machine'), unique(runs.map(run => run.machine)).map(machine => [machine, data.machines[machine]]), state.machine);
  $('scene').addEventListener('change', event => { state.scene = +event.target.value; choose(); });
  $('machine').addEventListener('change', event => { state.machine = +event.target.value; choose(); });
  $('run').addEventListener('change', event => { state.run = +event.target.value; tiles(); draw('distribution', charts.distribution()); });
  $('filters').addEventListener('submit', event => event.preventDefault());
  sortable();
  choose();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', show);
  matchMedia('print').addEventListener('change', show);
  let before = innerWidth;
  window.addEventListener('resize', () => { if (innerWidth !== before) { before = innerWidth; show(); } });
  // uPlot draws in a microtask, which is before this.
  window.addEventListener('load', () => {
    root.dataset.requests = String(performance.getEntriesByType('resource').length);
    root.dataset.ready = String(Math.round(performance.now()));
  });
}

start();
})();
