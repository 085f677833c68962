import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { INSTALL_WITHIN_MS } from '../support/chromium.js';
import { ABANDONED, DashboardVisitor, LOCK, STEP } from '../support/dashboard-visitor.js';

const PAGES = { list: 'list', lock: LOCK, abandoned: ABANDONED, graph: 'graph', step: STEP };
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface AxeResults {
  readonly passes: readonly unknown[];
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

describe('The dashboard for everybody', () => {
  let visitor: DashboardVisitor;

  beforeAll(async () => {
    visitor = await DashboardVisitor.start();
  }, INSTALL_WITHIN_MS);
  afterAll(async () => visitor?.[Symbol.asyncDispose]());

  /** What keeps somebody out of the page, by the rules that a machine can check. */
  async function barriers(): Promise<(readonly [rule: string, elements: readonly string[]])[]> {
    // The policy of the page lets nothing in but its own files; a test may bring something by the debugger.
    await visitor.page.evaluate(AXE);
    const { passes, violations } = await visitor.evaluate<AxeResults>(
      `axe.run(document, { runOnly: ${JSON.stringify(RULES)} })`,
    );
    expect(passes.length).toBeGreaterThan(15);
    return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  }

  describe.each(['light', 'dark'])('in %s', (scheme) => {
    it.each(Object.entries(PAGES))(
      'has nothing on its page %s that keeps somebody out, wide or narrow',
      async (name, address) => {
        for (const width of [1280, 400]) {
          await visitor.screen(width, scheme);
          await visitor.open(address);
          await visitor.photograph(`${name}-${width}-${scheme}`);
          expect(await barriers()).toEqual([]);
          const isTooWide = await visitor.evaluate<boolean>(
            'document.documentElement.scrollWidth > document.documentElement.clientWidth',
          );
          expect([name, width, isTooWide]).toEqual([name, width, false]);
        }
      },
    );
  });

  it('would fail here, if it kept somebody out', async () => {
    await visitor.open('list');
    // The page would put back what is taken away.
    await visitor.page.click('#live-toggle');
    await visitor.sees('#live-state', 'Paused');
    await visitor.evaluate(`document.querySelector('h1').remove()`);
    await visitor.evaluate(`document.querySelector('#live-toggle').textContent = ''`);
    const found = (await barriers()).map(([rule]) => rule);
    expect(found).toEqual(expect.arrayContaining(['button-name', 'page-has-heading-one']));
  });
});
