import { html, type Html } from '../html.js';
import { type Layout, MAX_CHARACTERS, type PlacedEdge, type PlacedNode, type Point } from './layout.js';

const LINE_HEIGHT = 16;
/** A wider drawing could not be read if it was made to fit a screen: it is scrolled. */
const FITS_WIDTH = 1_600;
const FITS_FROM_WIDTH = 960;

/** The graph as a picture. The table beneath it says the same in words, so for who does not see it the picture is one thing with a name. */
export function drawing({ nodes, edges, width, height }: Layout, title: string): Html {
  const fits = width > FITS_FROM_WIDTH && width <= FITS_WIDTH ? ' fits' : '';
  return html`<svg
    class="graph${fits}"
    role="img"
    aria-label="${title}"
    width="${width}"
    height="${height}"
    viewBox="0 0 ${width} ${height}"
  >
    <defs>${['plain', 'cycle'].map(arrow)}</defs>
    ${edges.map(line)} ${nodes.map(box)}
  </svg>`;
}

function arrow(kind: string): Html {
  return html`<marker
    id="arrow-${kind}"
    class="${kind}"
    viewBox="0 0 8 8"
    refX="7"
    refY="4"
    markerWidth="9"
    markerHeight="9"
    markerUnits="userSpaceOnUse"
    orient="auto"
    ><path d="M0 0L8 4L0 8z"
  /></marker>`;
}

function line({ kind, isInCycle, points }: PlacedEdge): Html {
  const end = isInCycle ? 'cycle' : 'plain';
  const name = kind === 'waits for' ? 'waits' : 'held-by';
  return html`<path class="edge ${name} ${end}" d="${curveThrough(points)}" marker-end="url(#arrow-${end})" />`;
}

function box({ kind, lines, isInCycle, x, y, width, height }: PlacedNode): Html {
  const top = y - (LINE_HEIGHT * (lines.length - 1)) / 2;
  const texts = lines.map(
    (text, index) =>
      html`<text class="${index === 0 ? 'first' : 'more'}" x="${rounded(x)}" y="${rounded(top + index * LINE_HEIGHT)}"
        >${shortened(text)}</text
      >`,
  );
  const radius = kind === 'key' ? 3 : 13;
  return html`<g class="box ${kind}${isInCycle ? ' cycle' : ''}"
    ><title>${lines.join(', ')}</title
    ><rect
      x="${rounded(x - width / 2)}"
      y="${rounded(y - height / 2)}"
      width="${width}"
      height="${height}"
      rx="${radius}"
    />${texts}</g
  >`;
}

/** The end of a key says more than its middle. */
function shortened(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  const kept = (MAX_CHARACTERS - 1) / 2;
  return `${text.slice(0, Math.floor(kept))}…${text.slice(-Math.ceil(kept))}`;
}

/** A smooth line: it begins and ends at the first and last point, and bends at those between. */
function curveThrough(points: readonly Point[]): string {
  const [first, ...others] = points;
  const last = others.pop();
  if (first === undefined || last === undefined) return '';
  const bends = others.map((point, index) => {
    const next = others[index + 1];
    const end = next === undefined ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${shownPoint(point)} ${shownPoint(end)}`;
  });
  return `M${shownPoint(first)}${bends.join('')}${others.length === 0 ? `L${shownPoint(last)}` : ''}`;
}

function shownPoint({ x, y }: Point): string {
  return `${rounded(x)} ${rounded(y)}`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
