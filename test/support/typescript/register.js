import { register } from 'node:module';

// `node --import` loads this file: what the process imports from then on may be TypeScript.
register('./hooks.js', import.meta.url);
