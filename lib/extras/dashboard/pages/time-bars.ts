import { html, type Html } from '../html.js';
import { shownDate, shownDuration } from '../shown.js';

/** The time that the bars of a table stand for. */
export interface TimeScale {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface BarPart {
  readonly kind: string;
  readonly fromMs: number;
  readonly toMs: number;
}

const WIDTH = 1_000;
/** A shorter bar is drawn as long as this, or nobody would see it. */
const LEAST_WIDTH = 4;

/** A bar of parts, one behind the other. It says nothing that the row does not say in words. */
export function bar(scale: TimeScale, parts: readonly BarPart[]): Html {
  const rectangles = parts.map(({ kind, fromMs, toMs }) => {
    // A hold of no time at all is one, and a wait of none is none.
    if (toMs < fromMs || (kind === 'waited' && toMs === fromMs)) return undefined;
    const width = Math.max(LEAST_WIDTH, placeOn(scale, toMs) - placeOn(scale, fromMs));
    const x = Math.min(WIDTH - width, placeOn(scale, fromMs));
    return html`<rect class="${kind}" x="${rounded(x)}" y="0" width="${rounded(width)}" height="10" />`;
  });
  return html`<svg
    class="span"
    viewBox="0 0 ${WIDTH} 10"
    preserveAspectRatio="none"
    aria-hidden="true"
    focusable="false"
  >
    ${rectangles}
  </svg>`;
}

/** The line above the bars tells where they begin and where they end. */
export function timeAxis({ fromMs, toMs }: TimeScale): Html {
  const date = new Date(fromMs);
  return html`<span class="axis"
    ><time datetime="${date.toISOString()}" title="${shownDate(date)}">${shownDuration(toMs - fromMs)} ago</time
    ><span>now</span></span
  >`;
}

function placeOn({ fromMs, toMs }: TimeScale, ms: number): number {
  return ((Math.min(toMs, Math.max(fromMs, ms)) - fromMs) / (toMs - fromMs)) * WIDTH;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
