/** The reason in plain words. OpenSSL's own message is full of numbers and source files, and has a line break. */
export function tlsReason(error: Error): string {
  return 'library' in error && 'reason' in error && typeof error.reason === 'string' ? error.reason : error.message;
}
