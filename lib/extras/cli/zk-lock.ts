#!/usr/bin/env node
import { main } from './main.js';

// The process ends by itself when everything is closed; what is still to be written is written then. A result that could not be written
// has set the code already.
void main(process.argv.slice(2)).then((exitCode) => (process.exitCode ??= exitCode));
