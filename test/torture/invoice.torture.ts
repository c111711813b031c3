import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { expect, test } from 'vitest';
import { deliveredAddress, deliveredRun, invoiceHeader } from '../support/invoices.ts';
import { openTestLedger } from '../support/ledger.ts';
import { volley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

const mebibyte = 1024 * 1024;
const requests = 5_000;
const each = 200;

test('reconciling an invoice of 1,000,000 lines with 375,000 differences takes at most 256 MiB', async () => {
  await using workspace = await makeWorkspace();
  const opened = await openTestLedger();
  const messageIds = await deliveredRun(opened.ledger, { requests, each, createdAt: new Date('2026-11-20') });
  await pipeline(
    Readable.from(invoiceRows(messageIds)),
    createGzip({ level: 1 }),
    createWriteStream(`${workspace.folder}/invoice.csv.gz`),
  );
  await workspace.write(
    'peak.mjs',
    `process.on('exit', () => process.stderr.write(\`peak \${process.resourceUsage().maxRSS * 1024}\\n\`));`,
  );
  const begun = performance.now();
  const { code, stderr } = await volley(
    [
      'report',
      'reconcile',
      '--invoice',
      'invoice.csv.gz',
      '--from',
      '2026-11',
      '--to',
      '2026-12',
      '--out',
      'out.ndjson',
    ],
    {
      cwd: workspace.folder,
      env: { DATABASE_URL: opened.url },
      nodeFlags: ['--import', `${workspace.folder}/peak.mjs`],
    },
  );
  const peak = Number(/peak (\d+)/.exec(stderr)?.[1]);
  console.log(
    `peak: ${Math.round(peak / mebibyte)} MiB in ${Math.round((performance.now() - begun) / 1000)} s`,
  );
  expect(code).toBe(3);
  const lines = (await workspace.read('out.ndjson')).trim().split('\n').length;
  expect(lines).toBe(requests * (each / 8) * 3);
  expect(peak).toBeLessThanOrEqual(256 * mebibyte);
  await opened.close();
});

/** Every eighth line has another price, and every eighth recipient has no line. */
function* invoiceRows(messageIds: readonly string[]): Generator<string> {
  yield `${invoiceHeader}\n`;
  for (let request = 1; request <= requests; request++) {
    let text = '';
    const messageId = messageIds[request - 1];
    for (let position = 1; position <= each; position++) {
      const address = deliveredAddress(request * each + position);
      const price = position % 8 === 0 ? '0.07' : '0.05';
      text +=
        position % 8 === 1 ? `Other${request},${address},0.05,1\n` : `${messageId},${address},${price},1\n`;
    }
    yield text;
  }
}
