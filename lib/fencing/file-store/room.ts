import { statfs } from 'node:fs/promises';

/** What system calls say when there is no room, or none for this user or process, or none to be had any more. */
const LACK_OF_ROOM: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'];

/** The room that is left on a disk. */
export class Room {
  constructor(private readonly path: string) {}

  /** As of now: others write as well. Quotas do not show. */
  async freeBytes(): Promise<number> {
    const { blocks, bavail, bsize } = await statfs(this.path);
    // A tmpfs without a limit has no size at all.
    return blocks === 0 ? Infinity : bavail * bsize;
  }

  /** What is cut off by a full disk cannot be taken back, so that it is better not begun. */
  async assertFor(bytes: number): Promise<void> {
    const free = await this.freeBytes();
    if (bytes <= free) return;
    const error = new Error(
      `No room for ${bytes} bytes in ${this.path}: ${free} are free on its disk. Nothing was written. Make room, then repeat it`,
    );
    throw Object.assign(error, { code: 'ENOSPC' });
  }
}

export function isLackOfRoom(error: unknown): boolean {
  return LACK_OF_ROOM.includes((error as NodeJS.ErrnoException).code ?? '');
}
