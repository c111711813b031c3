import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { digestOf } from '../../platform/digest.ts';
import { packageFolder } from '../../platform/package-folder.ts';
import { messageStyle } from '../../report/html/preview-style.ts';
import { partsStyle } from '../../report/html/style.ts';

const require = createRequire(import.meta.url);
const ownFile = (name: string): string =>
  readFileSync(join(packageFolder, 'src/dashboard/assets', name), 'utf8');
const htmxFile = (name: string): string => readFileSync(require.resolve(`htmx.org/dist/${name}`), 'utf8');

const styles = [
  'page.css',
  'forms.css',
  'parts.css',
  'tables.css',
  'badges.css',
  'run.css',
  'runs.css',
  'billing.css',
  'people.css',
  'operations.css',
];

const style = asset('dashboard.css', 'text/css; charset=utf-8', [
  partsStyle,
  messageStyle,
  ...styles.map(ownFile),
]);
const script = asset('dashboard.js', 'text/javascript; charset=utf-8', [
  htmxFile('htmx.min.js'),
  htmxFile('ext/hx-sse.min.js'),
  ownFile('dashboard.js'),
]);
const icon = asset('icon.svg', 'image/svg+xml', [ownFile('icon.svg')]);

/** The addresses of what all pages share. They change with its content, so that browsers may keep it. */
export const assets = { style: style.address, script: script.address, icon: icon.address };

export function serveAssets(server: FastifyInstance): void {
  const all = new Map([style, script, icon].map((each) => [each.name, each]));
  server.get<{ Params: { name: string } }>('/assets/:name', async ({ params, headers }, reply) => {
    const found = all.get(params.name);
    if (!found) return reply.callNotFound();
    reply.headers({ 'content-type': found.type, 'cache-control': 'public, max-age=31536000, immutable' });
    if (!/\bgzip\b/.test(headers['accept-encoding'] ?? '')) return reply.send(found.text);
    return reply.headers({ 'content-encoding': 'gzip', vary: 'accept-encoding' }).send(found.gzip);
  });
}

function asset(name: string, type: string, parts: readonly string[]) {
  const text = parts.join('\n');
  const version = digestOf(text).toString('hex').slice(0, 12);
  return { name, type, text, gzip: gzipSync(text), address: `/assets/${name}?v=${version}` };
}
