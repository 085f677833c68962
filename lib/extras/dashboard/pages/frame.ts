import { STYLE_ADDRESS, SCRIPT_ADDRESS } from '../assets/assets.js';
import { html, type Html } from '../html.js';

export interface PageContent {
  /** The text of the window's title, and of the only heading of the first order. */
  readonly title: string;
  /** This page's entry in the navigation; undefined for pages that have none. */
  readonly current?: 'list' | 'graph';
  readonly main: Html;
  /** Screen readers announce this when the page changes by itself; undefined for pages that do not change. */
  readonly news?: string;
  /** The name of the connection that is shown, if it has one. */
  readonly connection?: string;
}

const ENTRIES = [
  ['list', 'Locks'],
  ['graph', 'Who waits for whom'],
] as const;

/** Every page of the dashboard: the same head, the same navigation, its own content. */
export function frame({ title, current, main, news, connection = 'default' }: PageContent): string {
  const isLive = news !== undefined;
  const entries = ENTRIES.map(
    ([address, text]) =>
      html`<li><a href="${address}" ${address === current ? html` aria-current="page"` : undefined}>${text}</a></li>`,
  );
  const live = html`<div class="live" id="live" data-address="live" hidden>
    <span id="live-state" class="dot" role="status">Connecting</span>
    <button type="button" id="live-toggle" class="quiet">Pause</button>
  </div>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${current === 'list' ? title : `${title} · Locks`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${STYLE_ADDRESS}" />
        <script src="${SCRIPT_ADDRESS}" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="bar">
          <nav aria-label="Pages">
            <ul>
              ${entries}
            </ul>
          </nav>
          ${connection === 'default' ? undefined : html`<span class="muted">Connection <bdi>${connection}</bdi></span>`}
          ${isLive ? live : undefined}
        </header>
        <main id="main" tabindex="-1" ${isLive ? html` data-news="${news}"` : undefined}>${main}</main>
        <p id="news" class="unseen" role="status" aria-live="polite"></p>
      </body>
    </html> `.text;
}

/** A note that stands above the content: what was done, or what is not possible. */
export function note(text: Html | string, tone: 'good' | 'bad' | 'plain' = 'plain'): Html {
  return html`<p class="note ${tone}" ${tone === 'good' ? html` role="status"` : undefined}>${text}</p>`;
}
