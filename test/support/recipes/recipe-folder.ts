import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { snippetsOf, REPOSITORY } from '../snippets/snippets.js';

export const PAGE = 'docs/recipes.md';

/** What the recipes import of their reader's own application, for the compiler and for the tests. */
export const STAND_INS = join(import.meta.dirname, 'stand-ins');

/** `importRows` -> its source: the snippets of the page, each by the last thing that it exports. */
export function recipes(): Map<string, string> {
  const named = [...snippetsOf(PAGE)].map(([where, text]) => {
    const name = [...text.matchAll(/^export (?:async function|class) (\w+)/gm)].at(-1)?.[1];
    if (name === undefined) throw new Error(`${where} exports no function and no class, so no test can run it.`);
    return [name, text] as const;
  });
  return new Map(named);
}

/** `NightlyInvoices` -> `nightly-invoices`, the name of its file. */
export function fileNameOf(recipe: string): string {
  return recipe.replace(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase();
}

/** A folder with the snippets of the page as they stand there, each in a file, and with what they import. */
export class RecipeFolder {
  private constructor(readonly path: string) {}

  static async make(): Promise<RecipeFolder> {
    const folder = await mkdtemp(join(tmpdir(), 'recipes-'));
    await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    await cp(STAND_INS, folder, { recursive: true });
    for (const [name, text] of recipes()) await writeFile(join(folder, `${fileNameOf(name)}.ts`), text);
    return new RecipeFolder(folder);
  }

  /** What a recipe exports under its name. */
  async load<Recipe>(name: string): Promise<Recipe> {
    const exports = (await import(join(this.path, `${fileNameOf(name)}.ts`))) as Record<string, unknown>;
    return exports[name] as Recipe;
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
