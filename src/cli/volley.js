#!/usr/bin/env node
// Plain JavaScript that an old Node can read, so that it can say what is wrong in one line.
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

var wanted = [22, 19];
var have = process.versions.node.split('.').map(Number);
// The package has no TypeScript, because Node runs none inside node_modules.
var compiled = '../../dist/src/cli/main.js';
var checkout = existsSync(new URL('./main.ts', import.meta.url));

if (have[0] < wanted[0] || (have[0] === wanted[0] && have[1] < wanted[1])) {
  process.stderr.write(
    'volley needs Node ' +
      wanted.join('.') +
      ' or later, and this is ' +
      process.version +
      ' (' +
      process.execPath +
      '). ' +
      (checkout
        ? '`npm ci` in the checkout brings the right one; then start it with `npx --no-install volley`.\n'
        : 'Install a newer one, or put one beside Volley: `npm install node@24` where Volley is installed.\n'),
  );
  process.exitCode = 2;
} else {
  start();
}

async function start() {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache(cacheFolder());
  const { main } = await (checkout ? import('./main.ts') : import(compiled));
  await main(process.argv.slice(2));
}

// Compiled modules halve the time of a start, and save 20 MiB. Where the folder is not writable, nothing is kept. Never
// a folder that other users share: they could put code there.
function cacheFolder() {
  if (checkout) return fileURLToPath(new URL('../../node_modules/.cache/volley', import.meta.url));
  return join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'volley');
}
