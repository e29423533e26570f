// report.js - what a page of a job gains by a script: values under the pointer, zoom, lanes at any
// scale, tables that are sorted and filtered, copying, the theme, links to places.
//
// The page is complete without it. Each part works with what it finds, and does nothing if a piece
// is missing. Text of users is only ever textContent; nothing is parsed as HTML.
//
// A page that replaces a section (the portal) sends the event "tidemill:section" from the new
// section, and its parts are set up again; the zoom stays.
'use strict';
(() => {
  const root = document.documentElement;
  const find = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const clamp = (n, low, high) => Math.min(high, Math.max(low, n));

  function make(tag, attributes = {}, text = '', isSvg = false) {
    const e = document.createElementNS(`http://www.w3.org/${isSvg ? '2000/svg' : '1999/xhtml'}`, tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    e.textContent = text;
    return e;
  }

  // ---- what a screen reader announces ----------------------------------------------------------

  const status = make('p', { class: 'vh', role: 'status' });
  document.body.append(status);
  const say = text => { status.textContent = text; };

  // ---- theme -------------------------------------------------------------------------------------

  const redraws = new Set(); // pictures that are drawn in colours of the theme

  function stored(name, value) { // a browser may refuse storage, to files above all
    try {
      if (value !== undefined) localStorage.setItem(name, value);
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  }

  const isDark = () => getComputedStyle(root).colorScheme.split(' ')[0] === 'dark';

  function setUpTheme() {
    const before = stored('tidemill-theme');
    if (before === 'light' || before === 'dark') root.dataset.theme = before;
    const button = find('button.theme');
    const onChange = () => {
      if (button) button.setAttribute('aria-label', isDark() ? 'Light colours' : 'Dark colours');
      redraws.forEach(draw => draw());
    };
    onChange();
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
      matchMedia(query).addEventListener('change', onChange);
    if (!button) return;
    button.hidden = false;
    button.addEventListener('click', () => {
      root.dataset.theme = isDark() ? 'light' : 'dark';
      stored('tidemill-theme', root.dataset.theme);
      onChange();
    });
  }

  // ---- copying -----------------------------------------------------------------------------------

  async function copy(code) { // a command is shown as it is copied
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch { // not allowed here: select it, so that Ctrl-C copies it
      getSelection().selectAllChildren(code);
      return false;
    }
  }

  function setUpCopying(within) {
    for (const button of all('button.copy', within)) {
      button.hidden = false;
      button.addEventListener('click', async () => {
        const isDone = await copy(find('code', button.parentElement));
        button.textContent = isDone ? 'Copied' : 'Press Ctrl-C';
        say(isDone ? 'Copied' : 'Selected: press Ctrl-C to copy');
        setTimeout(() => { button.textContent = 'Copy'; }, 2000);
      });
    }
  }

  // The local time of the reader, where it is not that of the machine that made the page.
  function setUpTimes(within) {
    for (const time of all('time[datetime]', within)) {
      const at = new Date(time.dateTime);
      if (Number.isNaN(at.getTime()) || -60 * at.getTimezoneOffset() === Number(time.dataset.offset || 0)) continue;
      time.title = at.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' });
      time.after(make('span', { class: 'local' }, ` (${at.toLocaleTimeString()} here)`));
    }
  }

  // ---- tables ------------------------------------------------------------------------------------

  const FILTER_FROM = 21; // rows

  function valueOf(row, column) {
    const cell = row.cells[column];
    if (!cell) return '';
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const number = cell.classList.contains('num') ? Number(cell.textContent.replace(/,/g, '')) : NaN;
    return cell.textContent === '' || Number.isNaN(number) ? cell.textContent : number;
  }

  const byText = new Intl.Collator('en', { numeric: true }).compare;

  function sort(table, column, isDown) {
    const body = table.tBodies[0], factor = isDown ? -1 : 1;
    const rows = [...body.rows].map((row, at) => ({ row, at, value: valueOf(row, column) }));
    rows.sort((a, b) => factor * (typeof a.value === 'number' && typeof b.value === 'number'
      ? a.value - b.value : byText(String(a.value), String(b.value))) || a.at - b.at);
    body.append(...rows.map(r => r.row));
    all('thead th', table).forEach((th, i) => {
      if (i === column) th.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
      else th.removeAttribute('aria-sort');
    });
  }

  function makeSortable(table) {
    if (!table.tHead || !table.tBodies[0] || table.tBodies[0].rows.length < 2) return;
    [...table.tHead.rows[0].cells].forEach((th, column) => {
      if (!th.textContent || find('button', th)) return;
      const button = make('button', { type: 'button' });
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener('click', () => {
        const now = th.getAttribute('aria-sort');
        sort(table, column, now ? now === 'ascending' : th.classList.contains('num'));
      });
    });
  }

  // The rows of a table that are below a switch: they join it, so that sorting has all of them.
  function restOf(table) {
    const next = (table.closest('.scroll') || table).nextElementSibling;
    return next && next.matches('details.rest') ? next : null;
  }

  function joinRest(table) {
    const rest = restOf(table);
    if (!rest) return;
    const more = find('tbody', rest);
    if (more) table.tBodies[0].append(...more.rows);
    rest.remove();
  }

  function makeFiltered(table) {
    const rest = restOf(table), more = rest ? all('tbody tr', rest).length : 0;
    if (!table.tBodies[0] || table.tBodies[0].rows.length + more < FILTER_FROM) return;
    const label = make('label', { class: 'filter' });
    const input = make('input', { type: 'search', placeholder: 'Filter', autocomplete: 'off' });
    const left = make('output', { 'aria-live': 'polite' });
    const caption = table.caption ? table.caption.textContent : 'this table';
    label.append(make('span', { class: 'vh' }, `Filter: ${caption}`), input);
    const line = make('div', { class: 'filter-line' });
    line.append(label, left);
    (table.closest('.scroll') || table).before(line);
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length) joinRest(table);
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every(word => text.includes(word));
        shown += !row.hidden;
      }
      left.textContent = words.length ? `${shown} of ${table.tBodies[0].rows.length}` : '';
    });
    table.showAll = () => {
      input.value = '';
      input.dispatchEvent(new Event('input'));
    };
  }

  function setUpTables(within) {
    for (const table of all('table.data', within)) {
      if (table.closest('details.rest')) continue;
      if (!table.closest('details.table')) makeFiltered(table);
      makeSortable(table);
      const rest = restOf(table);
      if (rest) rest.addEventListener('toggle', () => { if (rest.open) joinRest(table); });
    }
  }

  // ---- places: #error-2, #timeline?from=3400&to=3900 ----------------------------------------------

  const timelines = new Map(); // id of the section -> its timeline
  const wanted = new Map();    // likewise -> the span of its view, [from, to] in seconds; none: all
  const TIMELINE = /^timeline(-\d+)?$/;

  function parsePlace(hash) {
    let text = hash.slice(1);
    try {
      text = decodeURIComponent(text);
    } catch { /* as it is */ }
    const [id, query = ''] = text.split('?');
    const span = new URLSearchParams(query);
    const from = Number(span.get('from')), to = Number(span.get('to'));
    return { id, span: span.has('from') && span.has('to') && to > from ? [from, to] : null };
  }

  // The address has the place and the span of one view: of the timeline that is the place, or first.
  function writePlace(id) {
    const number = n => String(Math.round(n * 1000) / 1000);
    const span = wanted.get(TIMELINE.test(id) ? id : 'timeline');
    const query = span ? `?from=${number(span[0])}&to=${number(span[1])}` : '';
    try { // not in every frame
      if (query || id) history.replaceState(null, '', `#${id || 'timeline'}${query}`);
    } catch { /* the address stays as it was */ }
  }

  function elementOf(id) {
    return document.getElementById(id) ||
      all('[data-mini-batch]').find(x => `mini-batch-${x.dataset.miniBatch}` === id) || null;
  }

  function reveal(e) {
    const scroll = e.closest('details.rest .scroll'), table = e.closest('table');
    for (const t of scroll ? all('table.data') : []) if (restOf(t) && restOf(t).contains(e)) joinRest(t);
    for (let d = e; d; d = d.parentElement) if (d.matches('details')) d.open = true;
    if (e.hidden && table && table.showAll) table.showAll();
    all('.target').forEach(x => x.classList.remove('target'));
    if (!e.matches('section, main')) e.classList.add('target');
    e.scrollIntoView({ block: e.matches('section, main') ? 'start' : 'center', behavior: 'instant' });
    const own = e.matches('details') ? find('summary', e) : e;
    if (own.tabIndex < 0) own.tabIndex = -1;
    own.focus({ preventScroll: true });
  }

  function goToPlace() {
    const place = parsePlace(location.hash), view = TIMELINE.test(place.id) ? place.id : 'timeline';
    const timeline = timelines.get(view);
    if (place.span) wanted.set(view, place.span);
    if (timeline && place.span) timeline.showSeconds(...place.span);
    const e = place.id && elementOf(place.id);
    if (e) reveal(e);
    else if (/^mini-batch-/.test(place.id)) [...timelines.values()].some(t => t.showMiniBatch(place.id.slice(11)));
    if (place.id && wanted.has(view)) writePlace(place.id);
  }

  // ---- the timeline ------------------------------------------------------------------------------

  function bytesOf(text) {
    const raw = atob(text || ''), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
  }

  // A typed array of little-endian numbers, whatever this machine has.
  function numbersOf(text, Type) {
    const bytes = bytesOf(text), size = Type.BYTES_PER_ELEMENT;
    const out = new Type(Math.floor(bytes.length / size)), view = new DataView(bytes.buffer);
    const get = { Float32Array: 'getFloat32', Float64Array: 'getFloat64',
      Uint16Array: 'getUint16' }[Type.name];
    for (let i = 0; i < out.length; i++) out[i] = view[get](i * size, true);
    return out;
  }

  const two = n => String(Math.floor(n)).padStart(2, '0');

  function formatMoment(seconds, total, step) {
    const s = Math.max(0, seconds), h = Math.floor(s / 3600), m = s / 60 % 60;
    if (step >= 86400) return String(Math.round(s / 86400));
    const rest = step < 1 ? (s % 60).toFixed(step < 0.1 ? (step < 0.01 ? 3 : 2) : 1).padStart(step < 0.1 ? 5 : 4, '0') : two(s % 60);
    if (total >= 3600) return step >= 60 ? `${h}:${two(m)}` : `${h}:${two(m)}:${rest}`;
    if (total >= 60) return `${Math.floor(s / 60)}:${rest}`;
    return step >= 1 ? String(Math.round(s)) : step >= 0.001 && total < 1 ? String(Math.round(s * 1000))
      : String(Math.round(s * 1000) / 1000);
  }

  function formatDuration(s) {
    if (s < 0.0995) return s < 0.0009995 ? `${Math.round(s * 1e6)} µs` : `${(s * 1e3).toFixed(s < 0.00995 ? 1 : 0)} ms`;
    if (s < 59.95) return `${s.toFixed(s < 9.995 ? 2 : 1)} s`;
    if (s < 3599.5) return `${Math.floor(Math.round(s) / 60)} min ${two(Math.round(s) % 60)} s`;
    return `${Math.floor(s / 3600)} h ${two(s / 60 % 60)} min`;
  }

  const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
  function formatNumber(n) {
    if (Number.isNaN(n)) return '–';
    if (Math.abs(n) >= 99.95) return grouped.format(n);
    if (Math.abs(n) < 0.005) return '0';
    return n.toFixed(Math.abs(n) >= 9.995 ? 1 : 2);
  }

  const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
    900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000];
  const UNITS = 1000; // of a view in x: the whole axis
  const LEAST = 1e-5; // of the axis: the narrowest view

  // The axis: seconds since the start on 0 to 1, with folded pieces.
  function makeAxis(pieces) {
    const pick = (v, low, high) => pieces.find((p, i) => v < p[high] || i === pieces.length - 1);
    const between = (v, a, b, c, d) => b > a ? c + (d - c) * (v - a) / (b - a) : c;
    return {
      pieces,
      xOf: t => { const p = pick(t, 0, 1); return clamp(between(t, p[0], p[1], p[2], p[3]), 0, 1); },
      tOf: x => { const p = pick(x, 2, 3); return between(clamp(x, p[2], p[3]), p[2], p[3], p[0], p[1]); },
    };
  }

  function makeTimeline(box, data, id) {
    const axis = makeAxis(data.pieces), total = data.total;
    const charts = all('.chart', box), views = all('svg.view', box);
    if (!charts.length || !data.pieces.length) return null;
    const rows = (data.rows || []).map(r => setUpRow(box, r)).filter(Boolean);
    const lanes = data.lanes ? makeLanes(box, data, axis) : null;
    const marks = all('svg.span', box).map(e => ({ e, from: Number(e.dataset.from), to: Number(e.dataset.to) }));
    const ticks = find('.time-axis svg.ticks', box), unit = find('.time-axis .row-head', box);
    const [cross, zone] = ['cross', 'zone'].map(name => make('div', { class: name, hidden: '' })), label = make('span');
    cross.append(label);
    box.append(cross, zone);
    let a = 0, b = 1;        // the view, on the axis
    let cursor = null;       // where the reading line is, on the axis
    const hatch = find(`#hatch-${id}`) || find('#hatch').parentNode.appendChild(find('#hatch').cloneNode(true));
    hatch.id = `hatch-${id}`;
    all('svg.view .failed', box).forEach(e => { e.style.fill = `url(#${hatch.id})`; });
    const plot = () => (lanes ? lanes.canvas : charts[0]).getBoundingClientRect();

    function drawTicks(width) {
      if (!ticks) return;
      const want = clamp(Math.floor(width / 72), 2, 12);
      const span = axis.tOf(b) - axis.tOf(a) - axis.pieces.reduce((sum, p) => sum + (p[4]
        ? Math.max(0, Math.min(p[1], axis.tOf(b)) - Math.max(p[0], axis.tOf(a))) : 0), 0);
      const step = STEPS.find(s => span / s <= want) || STEPS[STEPS.length - 1];
      all('.tick, :scope > text', ticks).forEach(e => e.remove());
      let last = -1;
      for (const [from, to, x0, x1, isFolded] of axis.pieces) {
        if (isFolded) addTick((x0 + x1) / 2, '//', 5, 'fold');
        for (let t = Math.ceil(Math.max(from, axis.tOf(a)) / step - 1e-9) * step; !isFolded && t <= to; t += step) {
          const x = (axis.xOf(t) - a) / (b - a);
          if (x > 1 + 1e-9) break;
          if (last >= 0 && x - last < 0.6 / want) continue;
          last = x;
          addTick(axis.xOf(t), formatMoment(t, total, step), 17, 'tick');
        }
      }
      if (unit) unit.textContent = unitOf(step);
    }

    function unitOf(step) {
      if (step >= 86400) return 'days since the start';
      if (total >= 3600) return step >= 60 ? 'h:min since the start' : 'h:min:s since the start';
      if (total >= 60) return 'min:s since the start';
      return step < 1 && total < 1 ? 'ms since the start' : 's since the start';
    }

    function addTick(at, text, y, name) {
      const x = (at - a) / (b - a);
      if (x < 0 || x > 1) return;
      const anchor = x < 0.02 ? 'start' : x > 0.98 ? 'end' : 'middle';
      ticks.append(make('text', { class: `dim ${name}`, x: `${100 * x}%`, y, 'text-anchor': anchor,
        'font-size': 11 }, text, true));
    }

    function draw() {
      const area = plot(); // before anything changes, so that the layout is made only once
      if (!(area.width > 0)) return; // it is not shown now
      for (const v of views) v.setAttribute('viewBox', `${UNITS * a} 0 ${UNITS * (b - a)} ${v.viewBox.baseVal.height}`);
      hatch.setAttribute('patternTransform', `scale(${UNITS * (b - a) / area.width} 1) rotate(45)`); // it is not stretched
      for (const { e, from, to } of marks) {
        const x0 = clamp((from - a) / (b - a), 0, 1), x1 = clamp((to - a) / (b - a), 0, 1);
        const width = Math.max(x1 - x0, (e.closest('.note') ? 18 : 3) / area.width);
        e.setAttribute('x', `${100 * Math.min(x0, 1 - width)}%`);
        e.setAttribute('width', `${100 * width}%`);
        e.style.display = from < b && to > a ? '' : 'none';
      }
      for (const r of rows) r.draw(axis, a, b);
      drawTicks(area.width);
      if (lanes) lanes.draw(a, b, area);
      placeCross();
      box.classList.toggle('zoomed', b - a < 1);
    }

    function show(from, to, quietly) {
      const width = clamp(to - from, LEAST, 1), at = clamp(from, 0, 1 - width);
      [a, b] = [at, at + width];
      const isAll = width >= 1 - 1e-9;
      if (isAll) { [a, b] = [0, 1]; wanted.delete(id); }
      else wanted.set(id, [axis.tOf(a), axis.tOf(b)]);
      if (cursor !== null) cursor = clamp(cursor, a, b);
      draw();
      if (quietly) return;
      const place = parsePlace(location.hash).id;
      writePlace(id !== 'timeline' || !place || TIMELINE.test(place) ? id : place);
      say(isAll ? 'All of the time' : `From ${momentAt(a)} to ${momentAt(b)}`);
    }

    const momentAt = x => formatMoment(axis.tOf(x), total, total < 60 ? 0.01 : (b - a) * total < 120 ? 0.1 : 1)
      + (total < 1 ? ' ms' : total < 60 ? ' s' : '');

    // ---- reading: a line, and the value of each row there

    function placeCross() {
      cross.hidden = cursor === null || cursor < a || cursor > b;
      if (cross.hidden) {
        rows.forEach(r => { r.output.textContent = ''; });
        if (lanes) lanes.output.textContent = '';
        return;
      }
      const p = plot(), left = p.left - box.getBoundingClientRect().left + (cursor - a) / (b - a) * p.width;
      cross.style.left = `${left}px`;
      label.textContent = momentAt(cursor);
      label.className = cursor - a > 0.9 * (b - a) ? 'left' : cursor - a < 0.1 * (b - a) ? 'right' : '';
      const t = axis.tOf(cursor);
      rows.forEach(r => { r.output.textContent = r.read(t); });
      if (lanes) lanes.output.textContent = lanes.row === null ? '' : lanes.read(t);
    }

    function moveCursor(x, isSaid) {
      cursor = x === null ? null : clamp(x, a, b);
      placeCross();
      if (isSaid && cursor !== null)
        say(`${momentAt(cursor)}: ${rows.map(r => `${r.label} ${r.read(axis.tOf(cursor))}`).join(', ')}`);
    }

    // ---- the pointer: a line to read, a drag to zoom

    const xAt = clientX => { const p = plot(); return clamp(a + (b - a) * (clientX - p.left) / p.width, a, b); };
    let drag = null, frame = 0;

    function onMove(e) {
      const p = plot();
      if (lanes) lanes.point(e.clientX >= p.left && e.clientX <= p.right ? e.clientY : null);
      moveCursor(e.clientX < p.left - 4 && drag === null ? null : xAt(e.clientX), false);
      if (drag === null) return;
      const from = Math.min(drag, cursor), to = Math.max(drag, cursor), left = p.left - box.getBoundingClientRect().left;
      zone.hidden = to - from <= 0;
      zone.style.left = `${left + (from - a) / (b - a) * p.width}px`;
      zone.style.width = `${(to - from) / (b - a) * p.width}px`;
    }

    box.addEventListener('pointermove', e => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => onMove(e));
    });
    box.addEventListener('pointerleave', () => {
      cancelAnimationFrame(frame);
      if (drag === null) moveCursor(null, false);
    });
    box.addEventListener('pointerdown', e => {
      if (e.button !== 0 || e.target.closest('a, button, details') || e.clientX < plot().left) return;
      drag = xAt(e.clientX);
      box.setPointerCapture(e.pointerId);
    });
    const endDrag = e => {
      if (drag === null) return;
      const from = Math.min(drag, xAt(e.clientX)), to = Math.max(drag, xAt(e.clientX));
      const isZoom = e.type === 'pointerup' && (to - from) / (b - a) * plot().width > 4;
      drag = null;
      zone.hidden = true;
      if (isZoom) show(from, to);
    };
    box.addEventListener('pointerup', endDrag);
    box.addEventListener('pointercancel', endDrag);
    box.addEventListener('dblclick', e => { if (!e.target.closest('a, button')) show(0, 1); });

    // ---- keys

    function zoomBy(factor) {
      const middle = cursor !== null ? cursor : (a + b) / 2, width = (b - a) * factor;
      show(middle - width * (middle - a) / (b - a), middle + width * (b - middle) / (b - a));
    }

    function moveBy(share, isLine) {
      if (!isLine && b - a < 1) show(a + share * (b - a), b + share * (b - a));
      else moveCursor((cursor !== null ? cursor : (a + b) / 2) + share * (b - a) / 5, true);
    }

    const keys = {
      '+': () => zoomBy(0.5), '=': () => zoomBy(0.5), '-': () => zoomBy(2), '0': () => show(0, 1),
      ArrowLeft: e => moveBy(-0.1, e.shiftKey), ArrowRight: e => moveBy(0.1, e.shiftKey),
      Home: () => moveCursor(a, true), End: () => moveCursor(b, true),
      Escape: () => moveCursor(null, false),
    };
    const stepLane = by => {
      lanes.choose(clamp((lanes.row === null ? (by > 0 ? -1 : data.lanes.count) : lanes.row) + by, 0, data.lanes.count - 1));
      draw();
      say(lanes.output.textContent);
    };
    box.addEventListener('keydown', e => {
      if (e.target !== box || e.ctrlKey || e.metaKey || e.altKey) return;
      const isLane = lanes && cursor !== null && /^Arrow(Up|Down)$/.test(e.key);
      if (isLane) stepLane(e.key === 'ArrowUp' ? -1 : 1);
      else if (keys[e.key]) keys[e.key](e);
      else return;
      e.preventDefault();
    });

    function addTools() {
      const tools = make('div', { class: 'tools' });
      const add = (text, name, act) => {
        const button = make('button', { type: 'button', 'aria-label': name, title: name }, text);
        button.addEventListener('click', act);
        tools.append(button);
      };
      add('+', 'Zoom in', () => zoomBy(0.5));
      add('−', 'Zoom out', () => zoomBy(2));
      add('all', 'All of the time', () => show(0, 1));
      tools.append(make('span', {}, 'drag to zoom, double click for all'));
      box.before(tools);
    }

    box.tabIndex = 0;
    box.setAttribute('role', 'group');
    box.setAttribute('aria-label', 'Timeline. Keys: plus and minus zoom, 0 shows all, left and right move, ' +
      'with Shift they move the line of values, up and down choose a line of the workers.');
    addTools();
    redraws.add(draw);
    new ResizeObserver(() => draw()).observe(box);
    return {
      showSeconds: (from, to) => show(axis.xOf(from), axis.xOf(to), true),
      showMiniBatch(number) {
        const at = lanes && lanes.findMiniBatch(number);
        if (!at) return false;
        const x0 = axis.xOf(at.from), x1 = axis.xOf(at.from + at.elapsed), margin = Math.max(2 * (x1 - x0), 0.005);
        show(x0 - margin, x1 + margin, true);
        lanes.choose(at.lane);
        moveCursor((x0 + x1) / 2, true);
        box.scrollIntoView({ block: 'center', behavior: 'instant' });
        return true;
      },
      stop: () => redraws.delete(draw),
    };
  }

  // A row of the timeline: its values, and its line in the detail that the view has room for.
  function setUpRow(box, data) {
    const e = find(`[data-row="${data.id}"]`, box);
    const head = e && find('.row-head', e), view = e && find('svg.view', e);
    if (!head || !view) return null;
    const output = make('output', { 'aria-live': 'off' });
    head.append(output);
    const series = [numbersOf(data.values, Float32Array), numbersOf(data.second, Float32Array)];
    const paths = all('path', view), before = paths.map(p => p.getAttribute('d'));
    const yOf = v => Math.round((data.height * (1 - clamp(v / data.top, 0, 1))) * 10) / 10;
    const isLine = data.form === 2;

    function trace(values, axis, a, b, isArea) {
      const first = clamp(Math.floor((axis.tOf(a) - data.from) / data.width) - 1, 0, values.length);
      const end = clamp(Math.ceil((axis.tOf(b) - data.from) / data.width) + 1, 0, values.length);
      let d = '', open = false;
      const xOf = i => (UNITS * axis.xOf(data.from + i * data.width)).toFixed(4);
      for (let i = first; i <= end; i++) {
        const isGap = i === end || Number.isNaN(values[i]) || (data.form === 1 && values[i] === 0);
        if (isGap && open && !isLine) d += `H${xOf(i)}${isArea ? `V${data.height}` : ''}`;
        if (!isGap && isLine) d += `${open ? 'L' : 'M'}${xOf(i + 0.5)} ${yOf(values[i])}`;
        if (!isGap && !isLine)
          d += open ? `H${xOf(i)}V${yOf(values[i])}` : `M${xOf(i)} ${isArea ? data.height : yOf(values[i])}V${yOf(values[i])}`;
        open = !isGap;
      }
      return d;
    }

    return {
      output,
      label: find('b', head) ? find('b', head).textContent : data.id,
      draw(axis, a, b) {
        const isAll = b - a >= 1;
        paths.forEach((path, i) => {
          const isSecond = path.closest('.dashed') !== null;
          const isArea = data.form === 1 || (data.form === 0 && i === 0);
          path.setAttribute('d', isAll ? before[i] : trace(series[isSecond ? 1 : 0], axis, a, b, isArea));
        });
      },
      read(t) {
        const i = Math.floor((t - data.from) / data.width);
        const at = values => i >= 0 && i < values.length ? formatNumber(values[i]) : '–';
        return series[1].length ? `${at(series[0])}, ${at(series[1])}` : at(series[0]);
      },
    };
  }

  // Names of others, with what is invisible made visible: as the text of the page has it.
  const visible = text => text.replace(/[\u0000-\u001f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, c => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);

  // ---- the lanes, on a canvas --------------------------------------------------------------------

  const IDLE = 1, STARTING = 2, LOADING = 3, OPEN = 4; // bits 6 and 7 of a cell; "canceled", and later ones that run

  // Colours of the theme as [red, green, blue]; forced colours, too.
  let colours = null;
  redraws.add(() => { colours = null; }); // before those that use them
  function themeColours() {
    if (colours) return colours;
    const probe = make('i');
    probe.style.forcedColorAdjust = 'none'; // a canvas is not forced, either
    document.body.append(probe);
    const get = name => {
      probe.style.color = `var(${name})`;
      return (getComputedStyle(probe).color.match(/[\d.]+/g) || [0, 0, 0]).slice(0, 3).map(Number);
    };
    colours = { done: get('--done'), failed: get('--failed'), died: get('--died'), loading: get('--loading'),
      init: get('--init'), dim: get('--dim'), ink: get('--ink'), ground: get('--bg'), gap: get('--gap') };
    probe.remove();
    return colours;
  }

  const mix = (over, under, share) => over.map((v, i) => Math.round(v * share + under[i] * (1 - share)));
  const isLittle = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
  const pixel = ([r, g, b]) => (isLittle ? 255 << 24 | b << 16 | g << 8 | r : r << 24 | g << 16 | b << 8 | 255) >>> 0;
  const css = ([r, g, b]) => `rgb(${r} ${g} ${b})`;

  function makeLanes(box, data, axis) {
    const { count, lives = [], names = [], nodes } = data.lanes;
    const e = find('[data-row="lanes"]', box), chart = e && find('.chart', e), view = e && find('svg.view', e);
    if (!chart || !view || !count) return null;
    const { data: text = '', count: cellCount = 0, width: cellWidth = 1 } = data.lanes.cells || {}, cells = bytesOf(text);
    const boxes = data.lanes.boxes ? readBoxes(data.lanes.boxes, axis) : null;
    const open = data.lanes.open ? readBoxes(data.lanes.open, axis) : null; // tries that run, or were cut off
    const canvas = make('canvas', { 'aria-hidden': 'true' });
    const output = make('output', { class: 'lane-output', 'aria-live': 'off' });
    chart.after(canvas);
    chart.classList.add('drawn');
    box.after(output);
    let row = null, marked = {}; // the lane that is read; the box that a link names
    canvas.style.height = `${chart.getAttribute('height')}px`;

    // For each pixel column the cells [first, end); -1: the axis is folded or has no session there.
    function columnsOf(width, a, b) {
      const first = new Int32Array(width), end = new Int32Array(width);
      for (let x = 0; x < width; x++) {
        const t0 = axis.tOf(a + (b - a) * x / width), t1 = axis.tOf(a + (b - a) * (x + 1) / width);
        const middle = a + (b - a) * (x + 0.5) / width;
        const isFolded = axis.pieces.some(p => p[4] && middle >= p[2] && middle < p[3]);
        first[x] = isFolded ? -1 : clamp(Math.floor(t0 / cellWidth), 0, cellCount);
        end[x] = isFolded ? -1 : clamp(Math.max(first[x] + 1, Math.ceil(t1 / cellWidth)), 0, cellCount);
      }
      return { first, end };
    }

    // One lane's columns as bytes like cells: the mean of run(), the largest share of failures, the usual rest.
    function lineOf(lane, columns, out) {
      const base = lane * cellCount, counts = [0, 0, 0, 0];
      for (let x = 0; x < out.length; x++) {
        let run = 0, failed = 0;
        counts.fill(0);
        const first = columns.first[x], end = columns.end[x];
        if (first < 0) { out[x] = 0; continue; }
        for (let i = base + first; i < base + end; i++) {
          const cell = cells[i];
          run += cell & 7;
          if ((cell >> 3 & 7) > failed) failed = cell >> 3 & 7;
          counts[cell >> 6]++;
        }
        const most = Math.max(counts[1], counts[2], counts[3]), rest = most && counts.indexOf(most, 1);
        out[x] = Math.ceil(run / Math.max(1, end - first)) | failed << 3 | rest << 6;
      }
    }

    function draw(a, b, area) {
      const scale = window.devicePixelRatio || 1;
      const width = Math.max(1, Math.round(area.width * scale)), height = Math.max(1, Math.round(area.height * scale));
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      const context = canvas.getContext('2d'), colours = themeColours(), image = context.createImageData(width, height);
      const lane = height / count, paints = paintsOf(colours);
      const columns = columnsOf(width, a, b), line = new Uint8Array(width), pixels = new Uint32Array(image.data.buffer);
      for (let l = 0; l < count; l++) {
        lineOf(l, columns, line);
        paintLane(pixels, width, Math.round(l * lane), Math.round((l + 1) * lane), line, paints);
      }
      context.putImageData(image, 0, 0);
      for (const list of [boxes, open]) if (list) drawBoxes(list, context, colours, width, lane, a, b, scale);
      drawDeaths(context, colours, width, lane, a, b, scale);
      if (row !== null) {
        context.strokeStyle = css(colours.dim);
        context.strokeRect(0.5, Math.round(row * lane) + 0.5, width - 1, Math.max(1, Math.round(lane) - 1));
      }
    }

    function paintsOf(c) {
      return { run: [...Array(8).keys()].map(level => pixel(mix(c.done, c.ground, 0.3 + 0.5 * level / 7))), failed: pixel(c.failed), idle: pixel(mix(c.dim, c.ground, 0.6)), starting: pixel(c.init), loading: pixel(c.loading) };
    }

    function paintLane(pixels, width, top, bottom, line, paints) {
      const height = Math.max(1, bottom - top - (bottom - top > 2 ? 1 : 0)), middle = top + (height >> 1);
      const inset = Math.floor(height * 0.19);
      const fill = (x, from, to, colour) => { for (let y = from; y < to; y++) pixels[y * width + x] = colour; };
      for (let x = 0; x < line.length; x++) {
        const cell = line[x], rest = cell >> 6;
        if (rest === IDLE || rest === STARTING || rest === LOADING) fill(x, middle, middle + 1, paints.idle);
        if (rest === STARTING) fill(x, top + inset, top + height - inset, paints.starting);
        if (rest === LOADING) fill(x, top + inset, top + height - inset, paints.loading);
        if (boxes) continue;
        if (cell & 7) fill(x, top + inset, top + height - inset, paints.run[cell & 7]);
        const failed = cell >> 3 & 7; // the more, the taller; it is always there
        if (failed) fill(x, top + height - Math.max(2, Math.round(height * (failed > 4 ? 1 : failed > 1 ? 0.7 : 0.4))), top + height, paints.failed);
      }
    }

    const isFailed = category => category > 0 && category < OPEN;

    function hatch(context, colours, scale) {
      const tile = make('canvas'), size = Math.round(6 * scale), c = tile.getContext('2d');
      tile.width = tile.height = size;
      c.fillStyle = css(mix(colours.failed, colours.ground, 0.7));
      c.fillRect(0, 0, size, size);
      c.strokeStyle = css(colours.failed);
      c.lineWidth = size / 2.4;
      c.beginPath();
      for (const at of [-size, 0, size]) { c.moveTo(at, size); c.lineTo(at + size, 0); }
      c.stroke();
      return context.createPattern(tile, 'repeat');
    }

    function drawBoxes(boxes, context, colours, width, lane, a, b, scale) {
      const done = css(mix(colours.done, colours.ground, 0.85)), failed = css(colours.failed), dim = css(colours.dim), wide = hatch(context, colours, scale);
      const height = Math.max(1, Math.round(lane) - (lane > 2 ? 1 : 0)), inset = Math.floor(height * 0.19);
      for (const late of [false, true]) // failures over successes
        for (let i = 0; i < boxes.count; i++) {
          if (isFailed(boxes.category[i]) !== late) continue;
          const x0 = (boxes.x0[i] - a) / (b - a) * width, x1 = (boxes.x1[i] - a) / (b - a) * width;
          if (x1 < 0 || x0 > width) continue;
          const w = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0)), y = Math.round(boxes.lane[i] * lane);
          context.fillStyle = late ? (w > 4 * scale ? wide : failed) : boxes.category[i] < OPEN ? done : dim;
          context.fillRect(x0, late ? y : y + inset, w, late ? height : Math.max(1, height - 2 * inset));
          if (i === marked.i && boxes === marked.list) Object.assign(context, { lineWidth: 2 * scale, strokeStyle: css(colours.ink) }).strokeRect(x0, y + scale, w, height - 2 * scale);
        }
    }

    function drawDeaths(context, colours, width, lane, a, b, scale) {
      context.fillStyle = css(colours.died);
      for (const [, l, , to, died] of lives) {
        const x = (axis.xOf(to) - a) / (b - a) * width;
        if (died && x >= 0 && x <= width) context.fillRect(clamp(x, 0, width - 2.5 * scale), l * lane - scale, 2.5 * scale, lane + 2 * scale);
      }
    }

    const boxAt = (list, t) => (list ? list.from.findIndex((from, i) => list.lane[i] === row && from <= t && t < from + list.elapsed[i]) : -1);

    function read(t) {
      const life = lives.find(([, l, from, to]) => l === row && from <= t && t <= to);
      const who = visible(nodes ? `node ${names[row]}` : life ? life[0] : `slot ${row}`);
      const at = boxAt(open, t), end = at >= 0 && open.category[at] === OPEN ? 'cut off' : 'has not ended';
      if (at >= 0) return `${who}: mini-batch ${open.mini[at]}, try ${open.tries[at]}, ${formatDuration(open.elapsed[at])}, ${end}`;
      if (boxes) {
        const i = boxAt(boxes, t);
        if (i < 0) return `${who}: ${life ? 'no try' : 'not there'}`;
        return `${who}: mini-batch ${boxes.mini[i]}, try ${boxes.tries[i]}, ${formatDuration(boxes.elapsed[i])}` +
          (isFailed(boxes.category[i]) ? ', failed' : '');
      }
      const cell = cells[row * cellCount + clamp(Math.floor(t / cellWidth), 0, cellCount - 1)] || 0;
      const words = ['not there', 'waits', 'starts', 'loads'][cell >> 6];
      const share = cell & 7 ? `run() ${Math.round((cell & 7) / 7 * 100)} %` : words;
      return `${who}: ${share}${cell >> 3 & 7 ? ', a try failed' : ''}`;
    }

    return {
      canvas, output, draw, read,
      get row() { return row; },
      choose: lane => { row = lane; },
      point(clientY) {
        const area = canvas.getBoundingClientRect(), at = clientY === null ? -1 : Math.floor((clientY - area.top) / area.height * count);
        row = at >= 0 && at < count ? at : null;
      },
      findMiniBatch(number) {
        const list = [boxes, open].find(l => l && l.mini.includes(Number(number))), i = list ? list.mini.indexOf(Number(number)) : -1;
        marked = { list, i };
        return list ? { lane: list.lane[i], from: list.from[i], elapsed: list.elapsed[i] } : null;
      },
    };
  }

  function readBoxes(data, axis) {
    const boxes = { count: data.count, lane: numbersOf(data.lane, Uint16Array), from: numbersOf(data.from, Float64Array),
      elapsed: numbersOf(data.elapsed, Float32Array), mini: numbersOf(data.mini, Float64Array),
      tries: bytesOf(data.tries), category: bytesOf(data.category) };
    boxes.x0 = Float64Array.from(boxes.from, axis.xOf);
    boxes.x1 = Float64Array.from(boxes.from, (from, i) => axis.xOf(from + boxes.elapsed[i]));
    return boxes;
  }

  function setUpTimelines(within) {
    for (const box of all('.timeline', within)) {
      const section = box.closest('section'), text = section && find('.timeline-data', section);
      let timeline = null;
      try {
        timeline = makeTimeline(box, JSON.parse(text.textContent), section.id);
      } catch { continue; } // the pictures are there without it
      if (timelines.has(section.id)) timelines.get(section.id).stop();
      if (timeline) timelines.set(section.id, timeline);
      if (timeline && wanted.has(section.id)) timeline.showSeconds(...wanted.get(section.id));
    }
  }

  // ---- the flame graph ---------------------------------------------------------------------------

  function setUpFlame(within) {
    const graph = find('svg.flame-graph', within);
    if (!graph) return;
    const frames = all('svg.frame', graph).map((e, i) => {
      const title = find('title', e);
      return { e, i, x: parseFloat(e.getAttribute('x')) || 0, width: parseFloat(e.getAttribute('width')) || 0,
        y: Number(e.getAttribute('y')), text: title ? title.textContent : '' };
    });
    if (!frames.length) return;
    const line = make('div', { class: 'filter-line' }), label = make('label', { class: 'filter' });
    const input = make('input', { type: 'search', placeholder: 'Search a line', autocomplete: 'off' });
    const back = make('button', { type: 'button' }, 'all'), output = make('output', { 'aria-live': 'polite' });
    label.append(make('span', { class: 'vh' }, 'Search the flame graph'), input);
    line.append(label, back, output);
    (graph.closest('figure') || graph).before(line);
    back.hidden = true;
    let current = frames[0];

    const isIn = (inner, outer) => inner.x >= outer.x - 1e-6 && inner.x + inner.width <= outer.x + outer.width + 1e-6;

    function zoom(to) {
      for (const f of frames) {
        const isAbove = f.y < to.y && isIn(to, f), isBelow = f.y >= to.y && isIn(f, to);
        f.e.style.display = isAbove || isBelow ? '' : 'none';
        f.e.setAttribute('x', `${isAbove ? 0 : (f.x - to.x) / to.width * 100}%`);
        f.e.setAttribute('width', `${isAbove ? 100 : f.width / to.width * 100}%`);
        f.e.classList.toggle('above', isAbove);
        fitLabel(f, isAbove ? 100 : f.width / to.width * 100);
      }
      back.hidden = to === frames[0];
      choose(to, false);
      say(`Zoomed to ${to.text}`);
    }

    function fitLabel(f, percent) { // frames that were too narrow for their name
      if (percent < 2.5 || find('text', f.e)) return;
      const name = f.text.replace(/: [^:]*$/, '').replace(/^.*\/(?=.)/, '');
      f.e.append(make('text', { class: 'ink', x: 4, y: 13, 'font-size': 11.5 }, name, true));
    }

    function choose(f, isFocused) {
      current.e.setAttribute('tabindex', -1);
      current = f;
      f.e.setAttribute('tabindex', 0);
      output.textContent = f.text;
      if (isFocused) f.e.focus({ preventScroll: true });
    }

    function search() {
      const word = input.value.trim().toLowerCase();
      const found = frames.filter(f => word && f.text.toLowerCase().includes(word));
      frames.forEach(f => f.e.classList.toggle('found', found.includes(f)));
      const outer = found.filter(f => !found.some(o => o !== f && o.y < f.y && isIn(f, o)));
      const share = outer.reduce((sum, f) => sum + f.width, 0);
      output.textContent = word ? `${found.length} found, ${share.toFixed(1)} % of the samples` : '';
    }

    function neighbour(key) {
      const shown = frames.filter(f => f.e.style.display !== 'none');
      if (key === 'ArrowUp') return shown.filter(f => f.y < current.y && isIn(current, f)).pop();
      if (key === 'ArrowDown') return shown.find(f => f.y > current.y && isIn(f, current));
      const line = shown.filter(f => f.y === current.y).sort((m, n) => m.x - n.x);
      return line[line.indexOf(current) + (key === 'ArrowRight' ? 1 : -1)];
    }

    graph.removeAttribute('role'); // its frames can be reached now
    graph.setAttribute('role', 'group');
    for (const f of frames) {
      f.e.setAttribute('tabindex', f === current ? 0 : -1);
      f.e.setAttribute('role', 'button');
      f.e.setAttribute('aria-label', f.text);
      f.e.addEventListener('click', () => zoom(f));
      f.e.addEventListener('focus', () => choose(f, false));
      f.e.addEventListener('pointerenter', () => { output.textContent = f.text; });
    }
    graph.addEventListener('keydown', e => {
      if (e.key === 'Enter' || e.key === ' ') zoom(current);
      else if (e.key === 'Escape' || e.key === '0') zoom(frames[0]);
      else if (/^Arrow/.test(e.key)) { const next = neighbour(e.key); if (next) choose(next, true); }
      else return;
      e.preventDefault();
    });
    back.addEventListener('click', () => zoom(frames[0]));
    input.addEventListener('input', search);
  }

  // ---- all of it ---------------------------------------------------------------------------------

  const parts = [setUpCopying, setUpTimes, setUpTables, setUpTimelines, setUpFlame];
  const setUp = within => parts.forEach(part => part(within));

  root.classList.add('js');
  setUpTheme();
  setUp(document);
  goToPlace();
  addEventListener('hashchange', goToPlace);
  let closed = [];
  addEventListener('beforeprint', () => {
    closed = all('details:not([open])');
    closed.forEach(d => { d.open = true; });
  });
  addEventListener('afterprint', () => closed.forEach(d => { d.open = false; }));
  document.addEventListener('tidemill:section', e => setUp(e.target));
})();
