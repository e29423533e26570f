// portal.js - makes the pages of the portal live. Without it, they are complete on reload.
//
// One tab of a browser holds the event stream (a Web Lock decides which) and tells the others
// (BroadcastChannel). Only visible tabs take part: hidden ones ask for nothing. The stream says
// which topics have changed, and which sections of the page of a job; a page then asks for those
// again, at most four times a second.
'use strict';
(() => {
  const body = document.body, root = document.documentElement;
  const prefix = body.dataset.prefix, topic = body.dataset.topic;
  const base = `/${prefix}/`, liveText = document.getElementById('live');
  // The portal sends something each second: 2.5 s of silence, seen at the next tick, are a loss.
  const PACE_MS = 250, TICK_MS = 250, LOST_MS = 2500, CONNECT_MS = 5000, RETRY_MAX_MS = 30000;
  // The only way from text to HTML: what our own server wrote.
  const policy = window.trustedTypes?.createPolicy('tidemill', { createHTML: text => text });
  const html = text => policy ? policy.createHTML(text) : text;

  // ---- theme, copying, keys ----

  // On the page of a job, report.js has done this.
  const isReport = body.dataset.titled !== undefined;
  const theme = document.getElementById('theme');
  if (theme && !isReport) {
    const kept = localStorage.getItem('tidemill-theme');
    if (kept) root.dataset.theme = kept;
    theme.hidden = false;
    theme.addEventListener('click', () => {
      root.dataset.theme = getComputedStyle(root).colorScheme === 'dark' ? 'light' : 'dark';
      localStorage.setItem('tidemill-theme', root.dataset.theme);
    });
  }
  const showButtons = () => document.querySelectorAll('[data-copy]').forEach(b => {
    b.hidden = !navigator.clipboard;
  });
  document.addEventListener('click', event => {
    const button = event.target.closest('[data-copy]');
    if (!button) return;
    navigator.clipboard.writeText(button.dataset.copy).then(() => {
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
  });
  document.addEventListener('keydown', event => {
    const field = document.querySelector('input[type=search]');
    if (event.key === '/' && field && document.activeElement !== field) {
      field.focus();
      event.preventDefault();
    }
  });
  showButtons();

  // ---- actions: a dialog says what will happen first ----

  const askFor = (button, path, more) =>
    fetch(`${base}jobs/${encodeURIComponent(button.dataset.job)}/actions/${button.dataset.action}${path}`,
      { method: 'POST', headers: { 'X-Tidemill-Token': body.dataset.token }, cache: 'no-store', ...more });
  async function act(button) {
    const said = button.closest('dialog').querySelector('.said');
    button.disabled = true;
    try {
      const answer = button.dataset.action === 'replay' ? await replay(button) : await askFor(button, '');
      if (!answer) return; // its output is on the page
      const place = document.createElement('div');
      place.innerHTML = html(await answer.text());
      said.textContent = place.querySelector('.sentence').textContent;
      button.disabled = button.dataset.action !== 'replay';
    } catch {
      said.textContent = 'The portal does not answer.';
      button.disabled = false;
    }
  }
  document.addEventListener('click', event => {
    const button = event.target.closest('[data-dialog], [data-action], [data-close]');
    if (!button) return;
    if (button.dataset.dialog) document.getElementById(button.dataset.dialog).showModal();
    else if (button.dataset.action) act(button);
    else button.closest('dialog').close();
  });
  document.addEventListener('close', event => { // the section may have changed beneath it
    if (event.target.tagName !== 'DIALOG') return;
    document.activeElement?.closest('[data-live]') && document.activeElement.blur();
    tags.delete('control');
    renewSoon();
  }, true);

  // ---- a replay: its output as it comes; it ends when the page does ----

  const OUTPUT_KEPT = 1e6, NODE = OUTPUT_KEPT / 20, PAINT_MS = 50; // characters
  let replaying = null; // AbortController
  // As the server writes text: nothing moves, hides or turns other text around.
  const codeOf = c => c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  const visible = text => text.replace(/\x1b\[[ -?]*[@-~]|\r(?=\n)/g, '').replace(/\x7f/g, '\u2421')
    .replace(/[\0-\x08\x0b-\x1f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\x80-\x9f\u2028-\u202e\u2066-\u2069]/g, c => `[U+${codeOf(c)}]`);
  // What is too old to be kept is not drawn: a hidden or slow page never keeps the program waiting.
  async function show(stream, output, cut) {
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let kept = 0, waiting = '', timer = 0, pauseMs = PAINT_MS, isEnd = false;
    const paint = () => {
      const began = performance.now(), follows = output.scrollHeight - output.scrollTop < output.clientHeight + 30;
      const end = isEnd ? waiting.length : waiting.search(/(\x1b(\[[ -?]{0,30})?|\r)?$/); // half a sequence waits
      const text = visible(waiting.slice(0, end));
      waiting = waiting.slice(end);
      timer = 0;
      for (let at = 0; at < text.length; at += NODE) // never markup
        output.append(document.createTextNode(text.slice(at, at + NODE)));
      for (kept += text.length; kept > OUTPUT_KEPT; cut.hidden = false) {
        kept -= output.firstChild.data.length;
        output.firstChild.remove();
      }
      if (follows) output.scrollTop = output.scrollHeight;
      pauseMs = Math.max(PAINT_MS, 4 * (performance.now() - began));
    };
    try {
      for (let piece; !(piece = await reader.read()).done;) {
        waiting += piece.value;
        if (waiting.length > 2 * OUTPUT_KEPT) {
          waiting = waiting.slice(-OUTPUT_KEPT);
          output.replaceChildren();
          kept = 0;
          cut.hidden = false;
        }
        timer ||= setTimeout(paint, pauseMs);
      }
    } finally {
      clearTimeout(timer);
      isEnd = true;
      paint();
    }
  }
  // Returns the answer if it is a refusal.
  async function replay(button) {
    const at = button.closest('[data-step]').dataset, part = id => document.getElementById(`replay-${id}`);
    const stopper = replaying = new AbortController();
    const answer = await askFor(button, `/${encodeURIComponent(at.step)}/${encodeURIComponent(at.number)}`,
      { signal: stopper.signal });
    if (answer.status !== 200) return answer;
    button.closest('dialog').close();
    part('shown').hidden = false;
    part('cut').hidden = true;
    part('stop').hidden = false;
    part('stop').onclick = () => stopper.abort();
    part('output').replaceChildren();
    part('state').textContent = 'The replay runs.';
    part('stop').focus();
    try {
      await show(answer.body, part('output'), part('cut'));
      part('state').textContent = 'The replay has ended; the last line says how.';
    } catch {
      part('state').textContent = stopper.signal.aborted ? 'The replay is stopped.'
        : 'The connection is lost: the replay is stopped.';
    }
    part('stop').hidden = true;
    button.disabled = false;
    return null;
  }
  addEventListener('pagehide', () => replaying?.abort());

  // ---- sections ----

  const tags = new Map(); // section -> ETag
  async function ask(name, more) {
    const url = new URL(location.href);
    url.hash = '';
    url.searchParams.set('section', name);
    for (const [key, value] of Object.entries(more || {})) url.searchParams.set(key, value);
    const tag = more ? null : tags.get(name);
    const answer = await fetch(url, { headers: tag ? { 'If-None-Match': tag } : {}, cache: 'no-store' });
    if (answer.status === 304) return null;
    if (!answer.ok) throw new Error(answer.status);
    if (!more) tags.set(name, answer.headers.get('ETag'));
    return answer.text();
  }
  function keepsFocus(section) { // what somebody is using is not replaced beneath them
    return section.querySelector('dialog[open]') ||
      (section.contains(document.activeElement) && document.activeElement !== document.body);
  }
  const old = new Set(); // names of sections that may be new at the portal
  async function renew() {
    for (const section of document.querySelectorAll('[data-live]')) {
      const name = section.dataset.live;
      if (keepsFocus(section) || !old.delete(name)) continue;
      const text = await ask(name).catch(fault => { old.add(name); throw fault; });
      if (text === null) continue;
      if (keepsFocus(section)) {
        old.add(name);
        tags.delete(name);
        continue;
      }
      section.innerHTML = html(text);
      section.firstElementChild?.dispatchEvent(new CustomEvent('tidemill:section', { bubbles: true }));
    }
    showButtons();
  }
  let isRenewing = false, isStale = false, heardAt = 0, isLost = true;
  // Never two at once; of what comes meanwhile, only the newest counts. `names`: undefined are all.
  async function renewSoon(names) {
    for (const section of document.querySelectorAll('[data-live]')) {
      if (names?.includes(section.dataset.live) ?? true) old.add(section.dataset.live);
    }
    isStale = true;
    if (isRenewing || document.hidden) return;
    isRenewing = true;
    while (isStale && !document.hidden) {
      isStale = false;
      try { await renew(); await follow(); } catch { break; }
      await new Promise(done => setTimeout(done, PACE_MS));
    }
    isRenewing = false;
  }

  // ---- how live the page is ----

  const announced = document.getElementById('announced'); // changes of state, not ticks
  const put = (place, text) => { if (place.textContent !== text) place.textContent = text; };
  function showLive() {
    if (!topic || !liveText) return;
    const ago = (performance.now() - heardAt) / 1000;
    isLost = isLost || ago * 1000 > LOST_MS;
    liveText.dataset.is = heardAt === 0 ? '' : isLost ? 'lost' : 'live';
    put(liveText, heardAt === 0 ? 'connecting' : isLost ? `not live, last updated ${Math.round(ago)} s ago`
      : `live, updated ${ago.toFixed(1)} s ago`);
    put(announced, heardAt === 0 ? '' : isLost ? 'The page is not live' : 'The page is live');
  }
  function tick() {
    if (document.hidden) return;
    showLive();
    giveUp();
  }
  function hear(message) {
    if (message.kind === 'lost') isLost = true;
    if (message.kind === 'beat' || message.kind === 'news') {
      isLost = false;
      heardAt = performance.now();
    }
    const news = message.kind === 'news' && message.topics[topic];
    if (news) renewSoon(isReport ? news.sections : undefined);
    if (news && isReport) document.title = news.title;
    showLive();
  }

  // ---- the stream of this browser ----

  const channel = new BroadcastChannel(`tidemill-${prefix}`);
  let wanted = new Map(); // tab -> topic, at the tab that leads
  const me = Math.random().toString(36).slice(2);
  let isLeading = false, stream = null, streamed = '', streamHeardAt = 0, retryMs = 500, retry = 0;
  const tell = message => { channel.postMessage(message); hear(message); };

  function open() {
    const topics = [...new Set(wanted.values())].sort().join(',');
    if (!isLeading || (stream && topics === streamed)) return;
    stream?.close();
    streamed = topics;
    streamHeardAt = performance.now();
    stream = new EventSource(`${base}events?topics=${encodeURIComponent(topics)}`);
    const pass = message => {
      streamHeardAt = performance.now();
      tell(message);
    };
    stream.onopen = () => { retryMs = 500; pass({ kind: 'beat' }); };
    stream.addEventListener('beat', () => pass({ kind: 'beat' }));
    stream.onmessage = event => pass({ kind: 'news', topics: JSON.parse(event.data) });
    stream.onerror = openLater;
  }
  function openLater() {
    tell({ kind: 'lost' });
    stream?.close();
    stream = null;
    clearTimeout(retry);
    retry = setTimeout(open, retryMs);
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
  }
  function giveUp() { // a silent connection may never end by itself
    const limit = stream?.readyState === EventSource.OPEN ? LOST_MS : CONNECT_MS;
    if (isLeading && stream && performance.now() - streamHeardAt > limit) openLater();
  }
  channel.onmessage = event => {
    const message = event.data;
    if (message.kind === 'want') {
      wanted.set(message.tab, message.topic);
      open();
      if (isLeading && stream?.readyState === EventSource.OPEN) channel.postMessage({ kind: 'beat' });
    } else if (message.kind === 'bye') {
      wanted.delete(message.tab);
      open();
    } else if (message.kind === 'who' && !document.hidden && topic) {
      channel.postMessage({ kind: 'want', tab: me, topic });
    } else {
      hear(message);
    }
  };
  let letGo = null, asking = null;
  function begin() {
    isLeading = true;
    wanted = new Map([[me, topic]]);
    channel.postMessage({ kind: 'who' });
    open();
  }
  function lead() {
    if (!navigator.locks) { // the browser does not trust the address: each tab has a stream
      begin();
      return;
    }
    asking = new AbortController();
    navigator.locks.request(`tidemill-${prefix}`, { signal: asking.signal }, () => {
      begin();
      return new Promise(done => { letGo = done; });
    }).catch(() => {});
  }
  function leave() {
    asking?.abort();
    stream?.close();
    stream = null;
    clearTimeout(retry);
    letGo?.();
    isLeading = false;
    letGo = null;
    channel.postMessage({ kind: 'bye', tab: me });
  }
  function take() { // part in it, while the tab is visible
    if (!topic) return;
    channel.postMessage({ kind: 'want', tab: me, topic });
    lead();
    renewSoon();
  }
  document.addEventListener('visibilitychange', () => document.hidden ? leave() : take());
  addEventListener('pagehide', leave);
  addEventListener('pageshow', event => { if (event.persisted && !document.hidden) take(); });
  setInterval(tick, TICK_MS);

  // ---- lines: earlier and later ones as the reader scrolls, and the end as it grows ----

  const KEPT = 3, MERGED_KEPT = 2000; // windows in the page; lines at both sides of what is read
  const view = document.querySelector('.log');
  const isMerged = body.dataset.file === 'merged';
  let follows = false, isLoading = false;
  let isScrolled = false; // and what is there has not been looked at
  let top = 0; // where the view was last
  // The height of a line that has not been drawn yet is a guess.
  const isNearEnd = () => view.scrollHeight - view.scrollTop < 2 * view.clientHeight;
  const toEnd = () => { view.scrollTop = view.scrollHeight; top = view.scrollTop; };
  const parse = text => {
    const place = document.createElement('div');
    place.innerHTML = html(text);
    return place;
  };
  const windowOf = text => parse(text).querySelector('.log');
  async function pieceAt(where) {
    const url = new URL(location.href), parts = url.pathname.split('/');
    parts[5] = where; // /PREFIX/jobs/KEY/view/WHERE/...
    url.pathname = parts.join('/');
    url.search = '?section=window';
    url.hash = '';
    const answer = await fetch(url, { cache: 'no-store' });
    if (!answer.ok) throw new Error(answer.status);
    return windowOf(await answer.text());
  }
  // Changes the lines, while the first one that is seen stays where it is. The browser's own anchoring would move them, too.
  function change(edit) {
    const edge = view.getBoundingClientRect().top;
    const seen = [...view.children].find(line => line.getBoundingClientRect().bottom > edge);
    const placeOf = () => seen?.isConnected ? seen.getBoundingClientRect().top : 0, before = placeOf();
    view.style.overflowAnchor = 'none';
    edit();
    view.scrollTop += placeOf() - before;
    requestAnimationFrame(() => requestAnimationFrame(() => { view.style.overflowAnchor = ''; }));
  }
  const pieces = []; // { from, to, lines }
  const entryOf = piece => ({ from: +piece.dataset.from, to: +piece.dataset.to, lines: [...piece.children] });
  function addPiece(piece, isEarlier) {
    const entry = entryOf(piece);
    change(() => {
      view[isEarlier ? 'prepend' : 'append'](...entry.lines);
      pieces[isEarlier ? 'unshift' : 'push'](entry);
      if (pieces.length > KEPT) pieces[isEarlier ? 'pop' : 'shift']().lines.forEach(line => line.remove());
    });
    view.dataset.size = piece.dataset.size;
  }
  // What has come since. A file that has become shorter is another one: its end replaces what is shown.
  async function followPieces() {
    const to = pieces[pieces.length - 1].to, piece = await pieceAt(String(to));
    if (+piece.dataset.size >= to) {
      if (piece.children.length > 0) addPiece(piece, false);
      return;
    }
    const end = await pieceAt('end');
    pieces.splice(0, pieces.length, entryOf(end));
    view.replaceChildren(...pieces[0].lines);
    view.dataset.size = end.dataset.size;
  }
  // The merged view: `from` and `to` are numbers of lines.
  const isPart = isMerged && view?.dataset.part !== undefined;
  const isSearch = isPart && new URLSearchParams(location.search).get('find');
  let isCut = false; // the lines that follow are not in the page
  const mergedPath = location.pathname.replace(/\/(at|before)\/\d+$/, '');
  function trim(isEarlier) {
    const lines = [...view.children], more = Math.max(0, lines.length - 2 * MERGED_KEPT);
    (isEarlier ? lines.slice(lines.length - more) : lines.slice(0, more)).forEach(line => line.remove());
    if (isEarlier) view.dataset.to -= more;
    else view.dataset.from = +view.dataset.from + more;
    isCut ||= isEarlier && more > 0;
  }
  async function mergedAt(where) {
    for (;;) {
      const answer = await fetch(`${mergedPath}/${where}?section=window`, { cache: 'no-store' });
      if (!answer.ok) throw new Error(answer.status);
      const piece = windowOf(await answer.text());
      if (!piece.dataset.more) return piece;
      await new Promise(done => setTimeout(done, 50)); // it has not been reached yet
    }
  }
  async function scrollMerged() {
    if (view.scrollTop < 200 && +view.dataset.from > 0) {
      const piece = await mergedAt(`before/${view.dataset.from}`);
      view.dataset.from = piece.dataset.from;
      change(() => { view.prepend(...piece.children); trim(true); });
    } else if (isNearEnd() && (isPart || isCut)) {
      const piece = await mergedAt(`at/${view.dataset.to}`);
      view.dataset.to = piece.dataset.to;
      change(() => { view.append(...piece.children); trim(false); });
    }
  }
  async function scrollPieces() {
    const first = pieces[0], last = pieces[pieces.length - 1];
    if (view.scrollTop < 200 && first.from > 0) addPiece(await pieceAt(`before-${first.from}`), true);
    else if (isNearEnd() && last.to < +view.dataset.size) addPiece(await pieceAt(String(last.to)), false);
  }
  async function look() {
    if (!isScrolled || isLoading || isSearch) return;
    isScrolled = false;
    isLoading = true;
    try {
      await (isMerged ? scrollMerged() : scrollPieces());
    } catch {
      isScrolled = true; // the next second tries again
    }
    isLoading = false;
  }
  async function followMerged() {
    const place = parse(await ask('window', { from: view.dataset.lines }));
    const piece = place.querySelector('.log'), note = document.querySelector('p.more');
    change(() => {
      if (+piece.dataset.first > +view.dataset.lines) { // more came than one answer has
        view.replaceChildren(...piece.children);
        view.dataset.from = piece.dataset.from;
      } else {
        view.append(...piece.children);
      }
      if (!isPart) trim(false);
    });
    if (+piece.dataset.lines > +view.dataset.lines) { // else the portal reads them once more
      view.dataset.lines = piece.dataset.lines;
      view.dataset.to = piece.dataset.to;
    }
    note?.replaceChildren(...place.querySelector('p.more').childNodes);
    delete view.dataset.more;
    if (piece.dataset.more) {
      view.dataset.more = '1';
      setTimeout(follow, 50);
    }
  }
  async function follow() {
    if (!view || !(follows || view.dataset.more) || isCut || isLoading || document.hidden) return;
    isLoading = true;
    try {
      if (isMerged) {
        await followMerged();
      } else if (pieces.length > 0) {
        await followPieces();
      }
      if (follows) toEnd();
    } catch { /* the next change tries again */ }
    isLoading = false;
  }
  if (view) {
    if (!isMerged) {
      pieces.push(entryOf(view));
      document.querySelectorAll('#earlier, #later').forEach(link => { link.hidden = true; });
    }
    follows = isMerged ? !isPart : location.pathname.split('/')[5] === 'end';
    if (follows) toEnd();
    view.addEventListener('scroll', () => {
      if (follows && view.scrollTop < top - 30) follows = false;
      top = view.scrollTop;
      isScrolled = true;
      look();
    });
    view.addEventListener('keydown', event => {
      if (event.key !== 'f' && event.key !== 'End') return;
      if (isCut || isPart) {
        location.href = mergedPath; // to the end
        return;
      }
      follows = true;
      if (isMerged || event.key === 'End') follow();
      else location.pathname = location.pathname.split('/').map((part, i) => i === 5 ? 'end' : part).join('/');
    });
    if (view.dataset.more) setTimeout(follow, 50);
    setInterval(() => {
      if (isLost) return;
      follow();
      look();
    }, 1000);
  }

  if (!document.hidden) take();
})();
