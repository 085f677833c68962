import { statfs } from 'node:fs/promises';

/** The codes of system calls that find no room: on the disk, for this user, for this process, or on a disk that became read-only. */
const LACK_OF_ROOM: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS'];

/** The room that is left on a disk. */
export class Room {
  constructor(private readonly path: string) {}

  /** The free bytes of this moment: others write as well. Quotas do not show in it. */
  async freeBytes(): Promise<number> {
    const { blocks, bavail, bsize } = await statfs(this.path);
    // A tmpfs without a limit has no size at all.
    return blocks === 0 ? Infinity : bavail * bsize;
  }

  /** Refuses a write for which there is no room: what a full disk cuts off cannot be taken back. */
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
