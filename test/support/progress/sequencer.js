// The runner loads this file as plain JavaScript; the hook lets it import the TypeScript beside it.
import '@swc-node/register/esm-register';

const { LongestFirst } = await import('./longest-first.ts');
export default LongestFirst;
