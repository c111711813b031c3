#!/usr/bin/env node
// Plain JavaScript that an old Node can read, so that it can say what is wrong in one line.
import { fileURLToPath } from 'node:url';

var wanted = [22, 19];
var have = process.versions.node.split('.').map(Number);

if (have[0] < wanted[0] || (have[0] === wanted[0] && have[1] < wanted[1])) {
  process.stderr.write(
    'volley needs Node ' +
      wanted.join('.') +
      ' or later, and this is ' +
      process.version +
      ' (' +
      process.execPath +
      '). `npm ci` in the checkout brings the right one; then start it with `npx volley`.\n',
  );
  process.exitCode = 2;
} else {
  start();
}

// Modules as they were compiled the last time: half the time of a start, and 20 MiB less. Where they cannot be kept, they
// are compiled as ever.
async function start() {
  const { enableCompileCache } = await import('node:module');
  const folder = new URL('../../node_modules/.cache/volley', import.meta.url);
  enableCompileCache(fileURLToPath(folder));
  const { main } = await import('./main.ts');
  await main(process.argv.slice(2));
}
