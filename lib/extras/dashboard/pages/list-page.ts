import { addressOf } from '../address.js';
import { type Column, COLUMNS, type ColumnId } from '../columns.js';
import { html, type Html } from '../html.js';
import { listAddress, type ListName, type ListQuery, LISTS } from '../list-query.js';
import type { LockRow, LockScan } from '../../doctor/lock-scan.js';
import { isInList, type LockList, selectLocks } from '../select-locks.js';
import { labelOf, placeOf, plural, shownCount, shownDuration, shownTime } from '../shown.js';
import { frame, note } from './frame.js';
import { pager } from './pager.js';
import { statePill } from './state-pill.js';

const LIST_TITLES: Readonly<Record<ListName, string>> = { all: 'All', queued: 'With a queue', abandoned: 'Abandoned' };

/** All locks as a table: searched, sorted and cut into pages here, so that ten thousand of them are no matter to the browser. */
export function listPage(scan: LockScan, query: ListQuery, connection?: string): string {
  const list = selectLocks(scan.locks, query);
  const waiting = scan.locks.reduce((sum, row) => sum + row.waiting, 0);
  const facts = `${plural(scan.locks.length, 'lock', 'locks')}, ${plural(waiting, 'call waits', 'calls wait')}`;
  const main = html`<div class="heading">
      <h1>Locks</h1>
      <p class="muted">${facts}, seen at <time datetime="${scan.at.toISOString()}">${shownTime(scan.at)} UTC</time></p>
    </div>
    <div class="tools">
      <ul class="tabs" aria-label="Which locks">
        ${LISTS.map((name) => tab(name, scan, query))}
      </ul>
      ${searchForm(query)}
    </div>
    ${scan.unreadable > 0 ? note(unreadable(scan)) : undefined}
    ${list.total === 0 ? nothing(scan, query) : table(list, query)} ${pager(list, query)}`;
  return frame({ title: 'Locks', current: 'list', main, news: facts, ...(connection && { connection }) });
}

function unreadable({ unreadable: count }: LockScan): string {
  return `${plural(count, 'node', 'nodes')} may not be read with this connection: keys below them are not shown.`;
}

function tab(name: ListName, { locks }: LockScan, query: ListQuery): Html {
  const count = locks.reduce((sum, row) => sum + (isInList(row, name) ? 1 : 0), 0);
  const current = name === query.list ? html` aria-current="true"` : undefined;
  return html`<li>
    <a href="${listAddress(query, { list: name })}" ${current}
      >${LIST_TITLES[name]} <span class="count">${shownCount(count)}</span></a
    >
  </li>`;
}

function searchForm(query: ListQuery): Html {
  const kept = [...new URLSearchParams(listAddress(query).split('?')[1] ?? '')].filter(([name]) => name !== 'q');
  return html`<form class="search" role="search" action="list" method="get">
    ${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <label class="unseen" for="search">Search key, template, holder, host or token</label>
    <input
      id="search"
      type="search"
      name="q"
      value="${query.search}"
      placeholder="Key, template, holder, host or token"
      maxlength="200"
      autocomplete="off"
      spellcheck="false"
    />
    <button type="submit">Search</button>
  </form>`;
}

function nothing({ locks }: LockScan, query: ListQuery): Html {
  if (locks.length === 0) return html`<p class="empty">No lock is held, and nobody waits for one.</p>`;
  return html`<p class="empty">
    No lock fits. <a href="${listAddress(query, { search: '', list: 'all' })}">Show all</a>
  </p>`;
}

function table({ rows, total, first }: LockList, query: ListQuery): Html {
  const range = `${shownCount(first)} to ${shownCount(first + rows.length - 1)} of ${shownCount(total)}`;
  return html`<table class="locks" role="table">
    <caption class="unseen">
      Locks ${range}. The headings sort the table.
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${COLUMNS.map((column) => heading(column, query))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(tableRow)}
    </tbody>
  </table>`;
}

function heading({ id, title, isNumber }: Column, query: ListQuery): Html {
  const isSorted = id === query.sort;
  const isDescending = isSorted ? !query.isDescending : isNumber;
  const direction = query.isDescending ? 'descending' : 'ascending';
  const sorted = isSorted ? html` aria-sort="${direction}"` : undefined;
  return html`<th role="columnheader" scope="col" class="${id}" ${sorted}>
    <a id="sort-${id}" href="${listAddress(query, { sort: id, isDescending })}">${title}</a>
  </th>`;
}

function tableRow(row: LockRow): Html {
  const { key, template, holderAgeMs, longestWaitMs } = row;
  const cells: [ColumnId, Html | string][] = [
    ['state', statePill(row.state, row.abandoned !== undefined)],
    ['holder', holder(row)],
    ['age', holderAgeMs === undefined ? '' : `${shownDuration(holderAgeMs)} ago`],
    ['waiting', row.waiting === 0 ? '' : shownCount(row.waiting)],
    ['longest', longestWaitMs === undefined ? '' : shownDuration(longestWaitMs)],
    ['template', html`<bdi>${template}</bdi>`],
  ];
  return html`<tr role="row" data-id="${key}">
    <th role="rowheader" scope="row" class="key">
      <a href="${addressOf('lock', { key })}"><bdi>${key}</bdi></a>
    </th>
    ${cells.map(
      ([name, content]) => html`<td role="cell" class="${name}" data-title="${titleOf(name)}">${content}</td>`,
    )}
  </tr>`;
}

function titleOf(name: ColumnId): string {
  return COLUMNS.find(({ id }) => id === name)!.title;
}

function holder({ holders: [first, ...more], abandoned }: LockRow): Html {
  const client = first?.client ?? abandoned;
  if (client === undefined) return html``;
  const others = more.length === 0 ? undefined : html` <span class="muted">and ${shownCount(more.length)} more</span>`;
  const who = html`<bdi>${labelOf(client)}</bdi> <bdi class="place">${placeOf(client)}</bdi>${others}`;
  return first === undefined ? html`<span class="muted">was ${who}</span>` : who;
}
