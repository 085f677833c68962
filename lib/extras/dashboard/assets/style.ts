import { TABLES } from './style-tables.js';

const COLOURS = `
:root {
  color-scheme: light dark;
  --back: #ffffff;
  --soft: #f5f6f8;
  --line: #e2e5ea;
  --edge: #7f8a97;
  --text: #1b2129;
  --muted: #59626e;
  --accent: #1556b8;
  --accent-soft: #e7effb;
  --wait: #8b96a4;
  --good: #136c37;
  --good-soft: #e0f4e7;
  --busy: #7d5000;
  --busy-soft: #fcf0d6;
  --bad: #ab1f17;
  --bad-soft: #fdeceb;
}

@media (prefers-color-scheme: dark) {
  :root {
    --back: #11161c;
    --soft: #192028;
    --line: #29323c;
    --edge: #6d7a88;
    --text: #e4e8ed;
    --muted: #98a3af;
    --accent: #84b6ff;
    --accent-soft: #1a2d47;
    --wait: #6d7a88;
    --good: #7fd49c;
    --good-soft: #15301f;
    --busy: #eabf6d;
    --busy-soft: #362a10;
    --bad: #ff9d95;
    --bad-soft: #3f1b19;
  }
}
`;

const FRAME = `
*, *::before, *::after { box-sizing: border-box; }

body {
  margin: 0 auto;
  max-width: 90rem;
  padding: 0 clamp(0.9rem, 2.5vw, 2rem) 3rem;
  background: var(--back);
  color: var(--text);
  font: 0.875rem/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
  font-variant-numeric: tabular-nums;
}

h1, h2, p, ul, ol, figure { margin: 0; padding: 0; }
h1 { font-size: 1.25rem; line-height: 1.3; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.5rem 0 0.5rem; }
a { color: var(--accent); text-underline-offset: 0.15em; text-decoration-thickness: 1px; }
code { font-size: 0.8125rem; overflow-wrap: anywhere; }
ul { list-style: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
.muted, .place { color: var(--muted); }
.place { font-size: 0.8125rem; }
.unseen:not(:focus) {
  position: absolute; width: 1px; height: 1px; margin: -1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 0.5rem; padding: 0.4rem 0.8rem; background: var(--back); z-index: 3; }

.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.3rem 1.5rem; margin-bottom: 1.25rem; border-bottom: 1px solid var(--line); }
.bar nav ul, .tabs { display: flex; gap: 1.25rem; }
.bar nav a { display: block; padding: 0.8rem 0; color: var(--muted); text-decoration: none; font-weight: 500; }
.bar nav a:hover { color: var(--text); }
.bar nav [aria-current] { color: var(--text); box-shadow: inset 0 -2px var(--accent); }
.live { display: flex; align-items: center; gap: 0.75rem; margin-left: auto; color: var(--muted); }
.live[hidden] { display: none; }
.dot::before { content: ""; display: inline-block; width: 0.5rem; height: 0.5rem; margin-right: 0.4rem; border-radius: 50%; background: currentColor; }
.dot.good::before { color: var(--good); }
.dot.busy::before { color: var(--busy); }
.dot.bad { color: var(--bad); }

.crumbs { margin-bottom: 0.4rem; }
.heading { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.2rem 0.9rem; margin-bottom: 0.9rem; }
.tools { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 0.6rem 1.5rem; margin-bottom: 0.75rem; }
.tabs a { color: var(--muted); text-decoration: none; padding: 0.2rem 0; }
.tabs a:hover { color: var(--text); }
.tabs [aria-current] { color: var(--text); font-weight: 600; box-shadow: inset 0 -2px var(--accent); }
.count { color: var(--muted); font-weight: 400; margin-left: 0.15rem; }

input, select, button, .button {
  min-height: 2rem; padding: 0.25rem 0.7rem; border: 1px solid var(--edge); border-radius: 0.35rem;
  background: var(--back); color: var(--text); font: inherit;
}
::placeholder { color: var(--muted); opacity: 1; }
button, .button { display: inline-block; background: var(--soft); text-decoration: none; font-weight: 500; cursor: pointer; white-space: nowrap; }
button:hover, .button:hover { border-color: var(--accent); }
.quiet { min-height: 1.6rem; padding: 0.05rem 0.6rem; background: none; font-weight: 400; }
.danger { border-color: var(--bad); background: var(--bad); color: var(--back); }
.danger:disabled { opacity: 0.7; cursor: progress; }
.search { display: flex; gap: 0.4rem; flex: 0 1 26rem; }
.search input { flex: 1; min-width: 0; }

.pill { display: inline-block; padding: 0 0.5rem; border-radius: 1rem; font-size: 0.8125rem; font-weight: 600; background: var(--soft); color: var(--muted); white-space: nowrap; }
.pill.held { background: var(--accent-soft); color: var(--accent); }
.pill.recovering { background: var(--busy-soft); color: var(--busy); }
.pill.abandoned { background: var(--bad-soft); color: var(--bad); }

.note { max-width: 60rem; margin: 0.8rem 0; padding: 0.6rem 0.9rem; border-left: 3px solid var(--edge); background: var(--soft); }
.note.good { border-color: var(--good); background: var(--good-soft); color: var(--good); }
.note.bad { border-color: var(--bad); background: var(--bad-soft); }
.note h2 { margin: 0 0 0.3rem; color: var(--bad); }
.note p + p { margin-top: 0.5rem; }
.note bdi { overflow-wrap: anywhere; }
.empty { padding: 2.5rem 0; color: var(--muted); text-align: center; }
.actions { display: flex; gap: 0.6rem; margin-top: 1rem; }
.step { max-width: 40rem; }
.step p { margin-top: 0.8rem; }
.step label { display: block; font-weight: 600; margin-bottom: 0.2rem; }
.step input { width: 100%; }
.pager { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0.4rem 1.5rem; margin-top: 0.9rem; }
.pager ul { display: flex; flex-wrap: wrap; gap: 0.4rem 1rem; }
.off { color: var(--muted); }
`;

/** The look of all pages: two colour schemes, one column, no motion. */
export const STYLE = `${COLOURS}${FRAME}${TABLES}`;
