import { html, type Html } from '../html.js';
import { listAddress, type ListQuery } from '../list-query.js';
import type { LockList } from '../select-locks.js';
import { shownCount } from '../shown.js';

/** The way to the other pages of the list; nothing where there are none. */
export function pager({ rows, total, first, page, pages }: LockList, query: ListQuery): Html {
  if (pages === 1) return html``;
  const link = (text: string, target: number): Html =>
    target === page || target < 1 || target > pages
      ? html`<li><span class="off">${text}</span></li>`
      : html`<li><a id="page-${text}" href="${listAddress(query, { page: target })}">${text}</a></li>`;
  return html`<nav class="pager" aria-label="Pages of the list">
    <p class="muted">${shownCount(first)} to ${shownCount(first + rows.length - 1)} of ${shownCount(total)}</p>
    <ul>
      ${link('First', 1)}${link('Previous', page - 1)}
      <li><span aria-current="page">Page ${page} of ${shownCount(pages)}</span></li>
      ${link('Next', page + 1)}${link('Last', pages)}
    </ul>
  </nav>`;
}
