/**
 * The address of a page of the dashboard, relative to each other of them: so a prefix of the application, or of a proxy in front
 * of it, may be what it likes.
 */
export function addressOf(page: string, parameters: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(parameters).filter((one): one is [string, string] => one[1] !== undefined);
  return given.length === 0 ? page : `${page}?${new URLSearchParams(given).toString()}`;
}
