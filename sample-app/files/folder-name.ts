import { BadRequestException } from '@nestjs/common';

/** What file systems take, in bytes. */
const MAX_LENGTH = 255;

/**
 * One name inside the data folder, whatever the client calls the file: no slash is left, and `.` and `..` are nothing
 * but text.
 * @throws BadRequestException
 */
export function folderNameOf(name: string): string {
  const encoded = encodeURIComponent(name).replace(/^\./, '%2E');
  if (encoded !== '' && encoded.length <= MAX_LENGTH) return encoded;
  throw new BadRequestException(`A name must have 1 to ${MAX_LENGTH} characters when URL-encoded`);
}
