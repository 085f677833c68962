/** The look of the tables, of the bars in them and of the drawing; on narrow screens a row becomes a block of its own. */
export const TABLES = `
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.3rem 0.9rem 0.3rem 0; text-align: left; vertical-align: baseline; font-weight: inherit; }
thead th { position: sticky; top: 0; z-index: 1; background: var(--back); box-shadow: inset 0 -1px var(--wait); color: var(--muted); font-size: 0.8125rem; white-space: nowrap; }
thead a { color: inherit; text-decoration: none; }
thead a:hover { color: var(--text); text-decoration: underline; }
tbody tr { border-bottom: 1px solid var(--line); }
tbody tr:hover { background: var(--soft); }
[aria-sort] a { color: var(--text); font-weight: 600; }
[aria-sort="ascending"] a::after { content: " \\2191" / ""; }
[aria-sort="descending"] a::after { content: " \\2193" / ""; }
th.key, td.holder, td.template, td.place, .timeline tbody th { overflow-wrap: anywhere; }
th.key a, .token, .crumbs bdi, .edges a { font-family: ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace; font-size: 0.8125rem; }
th.key a { font-weight: 500; text-decoration: none; }
th.key a:hover { text-decoration: underline; }
.age, .waiting, .longest { text-align: right; white-space: nowrap; }
td.waiting { font-weight: 600; }
td.template { color: var(--muted); font-size: 0.8125rem; }
td:last-child, th:last-child { padding-right: 0; }
td.holder .place { white-space: nowrap; }

.timeline .group th { padding-top: 1rem; font-weight: 600; }
.timeline .group:hover { background: none; }
.timeline tbody th, .timeline td.token, .timeline td.place, .timeline td.what { white-space: nowrap; }
.timeline .when { width: 40%; min-width: 9rem; padding-right: 1.4rem; }
.timeline td.what { color: var(--muted); font-size: 0.8125rem; }
.timeline td.action { padding: 0 0 0 0.5rem; text-align: right; vertical-align: middle; }
.timeline .action .button { min-height: 1.6rem; padding: 0.05rem 0.6rem; }
.timeline .lost { color: var(--bad); font-weight: 600; }
.axis { display: flex; justify-content: space-between; font-weight: 400; }
svg.span { display: block; width: 100%; height: 0.6rem; }
svg.span { background: linear-gradient(var(--line), var(--line)) center / 100% 1px no-repeat; }
svg.span rect { fill: var(--accent); }
svg.span .waited { fill: var(--wait); }
svg.span .asked { fill-opacity: 0.6; }
svg.span .lost { fill: var(--bad); }

.scroll { overflow: auto; max-height: 75vh; border: 1px solid var(--line); border-radius: 0.35rem; }
svg.graph { display: block; margin: 0 auto; }
svg.graph.fits { min-width: 60rem; max-width: 100%; height: auto; }
.edge { fill: none; stroke: var(--edge); stroke-width: 1.3; }
.edge.waits { stroke-dasharray: 4 3; }
.edge.cycle { stroke: var(--bad); stroke-width: 2; }
marker path { fill: var(--edge); }
marker.cycle path { fill: var(--bad); }
.box rect { fill: var(--soft); stroke: var(--edge); }
.box.key rect { fill: var(--accent-soft); stroke: var(--accent); }
.box.crowd rect { fill: none; stroke-dasharray: 3 3; }
.box.cycle rect { fill: var(--bad-soft); stroke: var(--bad); stroke-width: 1.5; }
.box text { fill: var(--text); font: 12px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, monospace; text-anchor: middle; dominant-baseline: central; }
.box text.more { fill: var(--muted); font-size: 11px; }
.chain { padding-left: 1.3rem; }

@media (max-width: 79rem) {
  .locks .template { display: none; }
}

@media (max-width: 48rem) {
  table, tbody, thead { display: block; }
  table.locks thead tr { display: flex; flex-wrap: wrap; gap: 0.2rem 0.9rem; padding-bottom: 0.4rem; border-bottom: 1px solid var(--edge); }
  table.locks thead th { position: static; padding: 0; box-shadow: none; }
  .timeline thead, .edges thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  tbody tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.1rem 0.9rem; padding: 0.5rem 0; }
  tbody th, tbody td { display: block; padding: 0; }
  tbody td:empty { display: none; }
  .locks tbody th.key { flex: 1 1 60%; }
  .locks td.state { margin-left: auto; }
  .locks td.holder, .timeline td.when { flex: 1 0 100%; }
  .timeline td.what { flex: 1 1 60%; white-space: normal; }
  .locks td.age::before, .locks td.waiting::before, .locks td.longest::before { content: attr(data-title) " " / ""; color: var(--muted); font-weight: 400; }
  .age, .waiting, .longest { text-align: left; }
  .timeline tbody th, .timeline td.place { white-space: normal; }
  .timeline tbody th { flex: 1 1 auto; }
  .timeline .when { width: auto; padding: 0; }
  .timeline td.action { margin-left: auto; }
  .search { flex: 1 1 100%; }
}

@media (forced-colors: active) {
  svg.span rect { fill: CanvasText; }
  svg.span .waited { fill: GrayText; }
  .pill { border: 1px solid; }
}
`;
