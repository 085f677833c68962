import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** What the store calls a journal that is being made. Whatever else ends like that is somebody's: visitors choose names, too. */
const TEMPORARY = /^journal\.\d+\.[\w-]+\.tmp$/;
/** No write takes so long: the process that made the file has crashed. */
const LEFT_BEHIND_AFTER_MS = 10 * 60_000;

/**
 * Removes the temporary files in the folders of a store. It follows no link, neither in place of a folder nor of a file.
 * @returns how many
 */
export async function removeLeftBehind(root: string): Promise<number> {
  let removed = 0;
  for (const folder of await readdir(root, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue;
    const inside = join(root, folder.name);
    for (const file of await readdir(inside, { withFileTypes: true }).catch(unlessGone(() => []))) {
      if (file.isFile() && TEMPORARY.test(file.name) && (await removeIfOld(join(inside, file.name)))) removed += 1;
    }
  }
  return removed;
}

async function removeIfOld(path: string): Promise<boolean> {
  try {
    const { mtimeMs } = await lstat(path);
    if (Date.now() - mtimeMs < LEFT_BEHIND_AFTER_MS) return false;
    await unlink(path);
    return true;
  } catch (error) {
    return unlessGone(() => false)(error);
  }
}

/** The store removes such files as well, and the file that they were for may go meanwhile. */
function unlessGone<T>(instead: () => T): (error: unknown) => T {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return instead();
    throw error;
  };
}
