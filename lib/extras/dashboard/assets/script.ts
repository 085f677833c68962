/**
 * The script keeps a page up to date in the browser. It is a text and no function of ours, because a bundler of an application may rewrite
 * functions, and leaves texts alone; a test compiles it against the browser's types, and lints it. Without it every page works, and
 * is as old as its load.
 */
export const SCRIPT = String.raw`'use strict';

(() => {
  const live = document.getElementById('live');
  const main = document.getElementById('main');
  let source = undefined;
  let isPaused = false;
  let isRefreshing = false;
  /** Screen readers announce a change of the page at most once in this time. */
  const QUIET_MS = 30_000;
  let told = main.dataset.news;
  let toldAt = 0;

  /** An element is known by this when it moves among its neighbours. */
  function idOf(node) {
    return node instanceof Element ? (node.getAttribute('data-id') ?? (node.id || undefined)) : undefined;
  }

  /** Makes an element like a fresh one and keeps each part that is the same, so that focus, scroll and selection stay. */
  function become(old, fresh) {
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) {
      // A fresh page must not undo what a visitor has typed.
      if (name !== 'value' && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    const known = new Map([...old.children].map((child) => [idOf(child), child]));
    let next = old.firstChild;
    for (const node of [...fresh.childNodes]) {
      const id = idOf(node);
      const same = id === undefined ? likeness(next, node) : known.get(id);
      if (same === undefined) {
        old.insertBefore(node, next);
        continue;
      }
      if (same === next) next = next.nextSibling;
      else old.insertBefore(same, next);
      if (same instanceof Element) become(same, node);
      else if (same.nodeValue !== node.nodeValue) same.nodeValue = node.nodeValue;
    }
    while (next !== null) {
      const gone = next;
      next = next.nextSibling;
      gone.remove();
    }
  }

  function likeness(old, fresh) {
    return old !== null && idOf(old) === undefined && old.nodeName === fresh.nodeName ? old : undefined;
  }

  function tell(text, tone) {
    const state = document.getElementById('live-state');
    if (state.textContent !== text) state.textContent = text;
    state.className = 'dot ' + tone;
  }

  async function refresh() {
    if (isRefreshing || isPaused) return;
    isRefreshing = true;
    try {
      const response = await fetch(location.href, { headers: { accept: 'text/html' } });
      // A guard may send who is no longer known to another page.
      if (!response.ok || response.redirected) throw new Error('This is not the page');
      const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('main');
      if (fresh === null) throw new Error('This is not the page');
      if (isPaused) return;
      show(fresh);
      tell('Live', 'good');
    } catch {
      if (!isPaused) tell('Not up to date', 'bad');
    } finally {
      isRefreshing = false;
    }
  }

  function show(fresh) {
    const news = fresh.dataset.news ?? '';
    const focused = document.activeElement;
    become(main, fresh);
    // An element that moved has lost it.
    if (focused instanceof HTMLElement && focused.isConnected && focused !== document.activeElement) {
      focused.focus({ preventScroll: true });
    }
    if (news === told || Date.now() - toldAt < QUIET_MS) return;
    told = news;
    toldAt = Date.now();
    document.getElementById('news').textContent = news;
  }

  function listen() {
    if (source !== undefined || isPaused || document.hidden) return;
    source = new EventSource(live.dataset.address);
    source.addEventListener('open', () => tell('Live', 'good'));
    source.addEventListener('message', () => void refresh());
    source.addEventListener('error', () => {
      const isOver = source?.readyState === EventSource.CLOSED;
      tell(isOver ? 'Not live: load the page again' : 'Connecting', isOver ? 'bad' : 'busy');
    });
  }

  function stop() {
    source?.close();
    source = undefined;
  }

  function togglePause(button) {
    isPaused = !isPaused;
    button.textContent = isPaused ? 'Resume' : 'Pause';
    if (isPaused) {
      stop();
      tell('Paused', 'busy');
    } else {
      listen();
      void refresh();
    }
  }

  for (const form of document.querySelectorAll('form.step')) {
    const button = form.querySelector('button');
    const text = button.textContent;
    form.addEventListener('submit', () => {
      button.textContent = button.dataset.busy;
      button.disabled = true;
    });
    // A browser may show this page again as it was left.
    window.addEventListener('pageshow', () => {
      button.textContent = text;
      button.disabled = false;
    });
  }

  if (live === null) return;
  live.hidden = false;
  document.getElementById('live-toggle').addEventListener('click', (event) => togglePause(event.currentTarget));
  document.addEventListener('visibilitychange', () => {
    // A window that nobody sees asks for nothing.
    if (document.hidden) stop();
    else {
      listen();
      void refresh();
    }
  });
  listen();
})();
`;
