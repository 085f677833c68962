/** What went wrong, also where the message is OpenSSL's own: full of numbers and source files, with a line break. */
export function tlsReason(error: Error): string {
  return 'library' in error && 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
