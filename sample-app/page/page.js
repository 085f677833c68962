/* global document, EventSource, fetch, setInterval, URLSearchParams */
/** A browser allows six connections to a server, all its windows together: one is the stream, and one stays free. */
const MOST_REQUESTS = 4;
const LOG_LINES = 8;
/** Of one lock: a long queue is not to push everything else off the screen. */
const MOST_ROWS = 5;
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
  {
    title: 'Ledger “main”',
    key: '/locks/ledgers/main',
    buttons: [
      ['Deposit 10', '/ledgers/main/deposit', () => json('POST', { amount: 10 })],
      ['Balances', '/ledgers/main', () => ({ method: 'GET' })],
    ],
  },
  { title: 'Job “sweep”', key: '/locks/jobs/sweep', buttons: [['Run now', '/jobs/sweep']] },
];

let requests = 0;
/** Whether this instance has a session. While it has none, what it told of the locks last may be true no more. */
let isUp = false;

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

function allCards() {
  return [...document.querySelectorAll('article')];
}

function showLock(view) {
  const card = allCards().find(({ dataset }) => dataset.key === view.key);
  if (view.state === 'FREE') showState(card, 'free', 'good');
  else showState(card, view.state === 'HELD' ? 'held' : 'settling after a crash', 'busy');
  const rows = [
    ...view.holders.map((one) => contender(one, 'holder', one.mode === 'read' ? 'reads' : 'holds')),
    ...view.queue.map((one, index) => contender(one, 'waiter', `waits ${index + 1}`)),
  ];
  part(card, 'contenders').replaceChildren(...(rows.length > 0 ? rows.slice(0, MOST_ROWS) : [nobody()]));
  const unseen = view.holders.length + view.queueLength - MOST_ROWS;
  part(card, 'more').textContent = unseen > 0 ? `and ${unseen} more` : '';
  delete card.dataset.stale;
  if (!isUp) doubt(card);
}

/** What the card shows is what was seen last: its clocks stop, until the lock is told of again. */
function doubt(card) {
  card.dataset.stale = '';
  showState(card, 'unknown', 'busy');
}

function contender({ label, host, pid, mode, fencingToken, ageMs }, role, text) {
  const row = fromTemplate('contender');
  row.dataset.role = role;
  part(row, 'role').textContent = text;
  part(row, 'label').replaceChildren(...breakable(label ?? 'somebody'));
  part(row, 'mode').textContent = mode;
  part(row, 'token').textContent = `token\u00a0${fencingToken}`;
  part(row, 'process').textContent = `process ${pid ?? '?'} on ${host ?? '?'}`;
  // By this clock: the server's may differ.
  part(row, 'age').dataset.since = String(Date.now() - ageMs);
  showAge(part(row, 'age'));
  return row;
}

/** A name that has to be broken is broken behind a dot: `FilesController.` `append`. */
function breakable(name) {
  return name.split(/(?<=\.)/).flatMap((piece) => [document.createElement('wbr'), piece]);
}

function nobody() {
  const row = document.createElement('li');
  row.className = 'muted nobody';
  row.textContent = 'Nobody is here.';
  return row;
}

function showAge(element) {
  const seconds = Math.max(0, (Date.now() - Number(element.dataset.since)) / 1000);
  // Since it came, not since it holds: the node that tells of it is made before the wait.
  element.textContent = `here for ${seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min`}`;
}

function showConnection(state, tone = TONE_OF_STATE[state] ?? 'bad') {
  const element = document.getElementById('connection');
  element.textContent = state;
  element.dataset.tone = tone;
  isUp = tone === 'good';
  if (!isUp) allCards().forEach(doubt);
}

async function send(what, path, init) {
  countRequests(1);
  const startedAt = Date.now();
  const line = document.createElement('li');
  log(line, `${what}: waiting …`);
  try {
    const response = await fetch(path, { method: 'POST', ...init });
    const answer = readable(await response.text());
    const afterSeconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    log(
      line,
      `${what}, after ${afterSeconds} s: ${response.ok ? answer : `${response.status}, ${answer}`}`,
      response.ok,
    );
  } catch (error) {
    log(line, `${what}: the instance does not answer (${error.message})`, false);
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

/** The line comes to the top, be it new or known. */
function log(line, text, isGood = true) {
  const list = document.getElementById('log');
  document.getElementById('log-empty')?.remove();
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
  events.addEventListener('error', () => showConnection('no answer from the instance', 'bad'));
  events.addEventListener('open', () => void showInstance());
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
setInterval(() => document.querySelectorAll('article:not([data-stale]) [data-since]').forEach(showAge), 100);
