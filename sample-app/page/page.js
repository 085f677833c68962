/* global document, EventSource, fetch, setInterval, URLSearchParams */
/** A browser allows six connections to a server: one is the stream, and one stays free. */
const MOST_REQUESTS = 4;
const LOG_LINES = 8;
const TONE_OF_STATE = { connected: 'good', reconnected: 'good', connecting: 'busy', suspended: 'busy' };

const file = (name) => [
  ['Hold for 5 s', `/files/${name}/hold?seconds=5`],
  ['Append a line', `/files/${name}/append`, () => ({ body: `a visitor was here at ${new Date().toISOString()}` })],
  ['Read', `/files/${name}`, () => ({ method: 'GET' })],
];

const LOCKS = [
  { title: 'File “journal”', key: '/locks/files/journal', buttons: file('journal') },
  { title: 'File “notes”', key: '/locks/files/notes', buttons: file('notes') },
  {
    title: 'Stock of apples',
    key: '/locks/inventory/apples',
    buttons: [
      ['Deduct 1', '/inventory/apples/deduct'],
      ['Refill to 20', '/inventory/apples', () => json('PUT', { quantity: 20 })],
    ],
  },
  { title: 'Job “sweep”', key: '/locks/jobs/sweep', buttons: [['Run now', '/jobs/sweep']] },
];

let requests = 0;

function json(method, body) {
  return { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function part(element, name) {
  return element.querySelector(`[data-part='${name}']`);
}

function fromTemplate(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

function makeCard({ title, key, buttons }) {
  const card = fromTemplate('lock');
  card.dataset.key = key;
  card.querySelector('h2').textContent = title;
  part(card, 'key').textContent = key;
  showState(card, '…', 'busy');
  for (const [text, path, init] of buttons) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.addEventListener('click', () => void send(`${title}: ${text}`, path, init?.() ?? {}));
    card.querySelector('.buttons').append(button);
  }
  document.getElementById('locks').append(card);
}

function showState(card, text, tone) {
  const state = part(card, 'state');
  state.textContent = text;
  state.dataset.tone = tone;
}

function showLock(view) {
  const card = [...document.querySelectorAll('article')].find(({ dataset }) => dataset.key === view.key);
  if (view.state === 'FREE') showState(card, 'free', 'good');
  else showState(card, view.state === 'HELD' ? 'held' : 'settling after a crash', 'busy');
  const rows = [
    ...view.holders.map((one) => contender(one, 'holder', one.mode === 'read' ? 'reads' : 'holds')),
    ...view.queue.map((one, index) => contender(one, 'waiter', `waits ${index + 1}`)),
  ];
  part(card, 'contenders').replaceChildren(...(rows.length > 0 ? rows : [nobody()]));
  const unseen = view.queueLength - view.queue.length;
  part(card, 'more').textContent = unseen > 0 ? `and ${unseen} more wait` : '';
}

function contender({ label, host, pid, mode, fencingToken, ageMs }, role, text) {
  const row = fromTemplate('contender');
  row.dataset.role = role;
  part(row, 'role').textContent = text;
  part(row, 'label').textContent = label ?? 'somebody';
  part(row, 'details').textContent = `${mode} · process ${pid ?? '?'} on ${host ?? '?'} · token\u00a0${fencingToken}`;
  // By this clock: the server's may differ.
  part(row, 'age').dataset.since = String(Date.now() - ageMs);
  showAge(part(row, 'age'));
  return row;
}

function nobody() {
  const row = document.createElement('li');
  row.className = 'muted nobody';
  row.textContent = 'Nobody is here.';
  return row;
}

function showAge(element) {
  const seconds = Math.max(0, (Date.now() - Number(element.dataset.since)) / 1000);
  element.textContent = seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min`;
}

function showConnection(state, tone = TONE_OF_STATE[state] ?? 'bad') {
  const element = document.getElementById('connection');
  element.textContent = state;
  element.dataset.tone = tone;
}

async function send(what, path, init) {
  countRequests(1);
  const startedAt = Date.now();
  try {
    const response = await fetch(path, { method: 'POST', ...init });
    const answer = readable(await response.text());
    const afterSeconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    log(`${what}, after ${afterSeconds} s: ${response.ok ? answer : `${response.status}, ${answer}`}`, response.ok);
  } catch (error) {
    log(`${what}: the instance does not answer (${error.message})`, false);
  } finally {
    countRequests(-1);
  }
}

/** What an answer says, without the brackets of JSON; the end of a text. */
function readable(text) {
  if (!text.startsWith('{')) return text.trim().split('\n').slice(-3).join(' / ');
  const { message, ...rest } = JSON.parse(text);
  if (message !== undefined) return message;
  return Object.entries(rest)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function countRequests(change) {
  requests += change;
  for (const button of document.querySelectorAll('button')) button.disabled = requests >= MOST_REQUESTS;
}

function log(text, isGood) {
  const list = document.getElementById('log');
  document.getElementById('log-empty')?.remove();
  const line = document.createElement('li');
  line.textContent = text;
  if (!isGood) line.dataset.tone = 'bad';
  list.prepend(line);
  while (list.children.length > LOG_LINES) list.lastElementChild.remove();
}

function listen() {
  const query = new URLSearchParams(LOCKS.map(({ key }) => ['key', key]));
  const events = new EventSource(`/events?${query}`);
  events.addEventListener('connection', ({ data }) => showConnection(JSON.parse(data).state));
  events.addEventListener('lock', ({ data }) => showLock(JSON.parse(data)));
  // The browser tries again by itself; until then nothing on the page is news.
  events.addEventListener('error', () => {
    showConnection('no answer from the instance', 'bad');
    document.getElementById('locks').dataset.stale = '';
  });
  events.addEventListener('open', () => {
    delete document.getElementById('locks').dataset.stale;
    void showInstance();
  });
}

async function showInstance() {
  const pid = await fetch('/health').then(
    async (response) => (await response.json()).pid,
    () => undefined,
  );
  document.getElementById('instance').textContent = `process ${pid ?? 'unknown'} at ${document.location.host}`;
}

LOCKS.forEach(makeCard);
listen();
setInterval(() => document.querySelectorAll('main:not([data-stale]) [data-since]').forEach(showAge), 100);
