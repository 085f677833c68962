import { addressOf } from '../address.js';
import { drawing } from '../graph/drawing.js';
import { excerptOf } from '../graph/excerpt.js';
import { layOut, loadDagre } from '../graph/layout.js';
import { html, type Html } from '../html.js';
import type { WaitGraph, WaitGraphEdge, WaitGraphNode } from '../../doctor/wait-graph.js';
import { plural } from '../shown.js';
import { frame, note } from './frame.js';

const MAX_ROWS = 300;

/** Shows who waits for whom: drawn, and as a table. Without the package that lays it out, there is the table alone. */
export async function graphPage(graph: WaitGraph, connection?: string, load = loadDagre): Promise<string> {
  const waits = graph.edges.filter(({ kind }) => kind === 'waits for');
  const waited = new Set(waits.map(({ to }) => to));
  const facts = `${plural(waits.length, 'call waits', 'calls wait')} for ${plural(waited.size, 'lock', 'locks')}`;
  const names = new Map(graph.nodes.map((node) => [node.id, node]));
  const main = html`<div class="heading">
      <h1>Who waits for whom</h1>
      <p class="muted">
        ${facts}. Round: a caller. Square: a lock. Arrows lead from who waits to what it waits for, and from there to
        who holds it.
      </p>
    </div>
    ${graph.cycles.map((cycle) => deadlock(cycle, names))}
    ${waits.length === 0 ? html`<p class="empty">Nobody waits.</p>` : html`${await picture(graph, facts, load)}${table(graph, waited, names)}`}`;
  return frame({
    title: 'Who waits for whom',
    current: 'graph',
    main,
    news: newsOf(facts, graph),
    ...(connection && { connection }),
  });
}

function newsOf(facts: string, { cycles }: WaitGraph): string {
  return cycles.length === 0 ? facts : `${facts}; ${plural(cycles.length, 'deadlock', 'deadlocks')}`;
}

async function picture(graph: WaitGraph, facts: string, load: typeof loadDagre): Promise<Html> {
  const excerpt = excerptOf(graph);
  const dagre = await load().catch((error: { readonly details: string }) => error);
  if ('details' in dagre) return note(dagre.details, 'bad');
  const more = `${plural(excerpt.leftOut, 'lock', 'locks')} with shorter queues are not drawn; the table has them.`;
  return html`<figure class="scroll" id="picture" tabindex="0" role="region" aria-label="Drawing, can be scrolled">
      ${drawing(layOut(dagre, excerpt), `${facts}, drawn. The table beneath says the same.`)}
    </figure>
    ${excerpt.leftOut > 0 ? html`<p class="muted">${more}</p>` : undefined}`;
}

function deadlock(cycle: readonly string[], names: ReadonlyMap<string, WaitGraphNode>): Html {
  const steps = cycle.map((id) => html`<li>${named(id, names.get(id))}</li>`);
  return html`<section class="note bad">
    <h2>Deadlock</h2>
    <p>Each of these waits for the next one, and the last one for the first:</p>
    <ol class="chain">
      ${steps}
    </ol>
  </section>`;
}

function table({ edges }: WaitGraph, waited: ReadonlySet<string>, names: ReadonlyMap<string, WaitGraphNode>): Html {
  const shown = edges.filter((edge) => edge.kind === 'waits for' || waited.has(edge.from));
  const rows = shown.slice(0, MAX_ROWS).map((edge) => tableRow(edge, names));
  const more =
    shown.length > MAX_ROWS
      ? html`<p class="muted">And ${plural(shown.length - MAX_ROWS, 'line', 'lines')} more.</p>`
      : undefined;
  return html`<h2>The same as a table</h2>
    <table class="edges" role="table">
      <caption class="unseen">
        Who waits for what, and who holds that
      </caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">From</th>
          <th role="columnheader" scope="col">Relation</th>
          <th role="columnheader" scope="col">To</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows}
      </tbody>
    </table>
    ${more}`;
}

function tableRow({ from, kind, to }: WaitGraphEdge, names: ReadonlyMap<string, WaitGraphNode>): Html {
  const relation = kind === 'held by' ? 'is held by' : kind;
  return html`<tr role="row" data-id="${from} ${to}">
    <th role="rowheader" scope="row">${named(from, names.get(from))}</th>
    <td role="cell">${relation}</td>
    <td role="cell">${named(to, names.get(to))}</td>
  </tr>`;
}

function named(id: string, node: WaitGraphNode | undefined): Html {
  const name = node?.name ?? id;
  if (node?.kind !== 'key') {
    const { host, pid } = node?.client ?? {};
    const place = host === undefined ? undefined : html` <bdi class="place">${host}:${pid}</bdi>`;
    return html`<bdi>${node?.client?.label ?? name}</bdi>${place}`;
  }
  return html`<a href="${addressOf('lock', { key: name })}"><bdi>${name}</bdi></a>`;
}
