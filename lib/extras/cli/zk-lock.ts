#!/usr/bin/env node
import { main } from './main.js';

// The process ends by itself when everything is closed; what is still to be written is written then.
void main(process.argv.slice(2)).then((exitCode) => (process.exitCode = exitCode));
