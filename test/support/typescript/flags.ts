/**
 * What lets a process of a test run TypeScript. Each start with a runner that compiles everything anew costs more than a
 * second of a processor; with what was compiled before it costs half of that.
 */
export const TYPESCRIPT_FLAGS: readonly string[] = [
  '--import',
  new URL('./register.js', import.meta.url).href,
  '--disable-warning=ExperimentalWarning',
];
