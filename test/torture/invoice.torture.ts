import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Ledger } from '../../src/ledger/connection.ts';
import { acceptAll } from '../support/accept-all.ts';
import { invoiceHeader } from '../support/invoices.ts';
import { aContact, aRun, openTestLedger, planContacts } from '../support/ledger.ts';
import { volley } from '../support/volley.ts';
import { makeWorkspace } from '../support/workspace.ts';

const mebibyte = 1024 * 1024;
const requests = 5_000;
const each = 200;

test('reconciling an invoice of 1,000,000 lines with 375,000 differences takes at most 256 MiB', async () => {
  await using workspace = await makeWorkspace();
  const opened = await openTestLedger();
  const messageIds = await fillLedger(opened.ledger);
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

/** An accepted and delivered run. @returns its MessageIDs */
async function fillLedger(ledger: Ledger): Promise<readonly string[]> {
  const { pool } = ledger;
  const run = await planContacts(ledger, aRun({ createdAt: new Date('2026-11-20') }), [aContact(1)]);
  await pool.query(`UPDATE slices SET last_request = ${requests} WHERE run_id = $1 AND slice = 1`, [run]);
  await pool.query('DELETE FROM contents WHERE run_id = $1', [run]);
  await pool.query(
    `
    WITH outcome AS (
      INSERT INTO recipient_outcomes (run_id, request, position, outcome, units, price, reported_at)
      SELECT $1, n, p, 'delivered', 1, 0.05, '2026-11-21'
      FROM generate_series(1, ${requests}) n, generate_series(1, ${each}) p
    )
    INSERT INTO contents (run_id, first_request, last_request, slice, envelopes, sizes, request_offsets, positions, lines,
                          addresses, parts)
    SELECT $1, n, n, 1, '{1}', ARRAY[count(*)], array_agg(0), array_agg(p ORDER BY p), array_agg(p ORDER BY p),
           array_agg('+6421' || lpad((n * ${each} + p)::text, 7, '0') ORDER BY p), array_agg(1)
    FROM generate_series(1, ${requests}) n, generate_series(1, ${each}) p
    GROUP BY n
    `,
    [run],
  );
  await acceptAll(pool, run, new Date('2026-11-21T00:00:00Z'));
  await pool.query('ANALYZE');
  const { rows } = await pool.query<{ id: string }>(
    'SELECT message_id AS id FROM request_states WHERE run_id = $1 ORDER BY request',
    [run],
  );
  return rows.map(({ id }) => id);
}

/** Every eighth line has another price, and every eighth recipient has no line. */
function* invoiceRows(messageIds: readonly string[]): Generator<string> {
  yield `${invoiceHeader}\n`;
  for (let request = 1; request <= requests; request++) {
    let text = '';
    const messageId = messageIds[request - 1];
    for (let position = 1; position <= each; position++) {
      const address = `6421${String(request * each + position).padStart(7, '0')}`;
      const price = position % 8 === 0 ? '0.07' : '0.05';
      text +=
        position % 8 === 1 ? `Other${request},${address},0.05,1\n` : `${messageId},${address},${price},1\n`;
    }
    yield text;
  }
}
