import pg from 'pg';
import { applyInbox } from '../../../src/engine/delivery-reports/apply-inbox.ts';
import { openLedger } from '../../../src/ledger/connection.ts';
import { contextOf } from '../../support/ledger.ts';

/**
 * Applies the inbox in this process, then writes the same outcomes with one set-based UPDATE, and prints the seconds
 * of both.
 */
const [url = ''] = process.argv.slice(2);
const ledger = await openLedger({ connectionString: url }, 'bench');
const begun = performance.now();
const applied = await applyInbox(contextOf(ledger));
const applying = (performance.now() - begun) / 1000;
await ledger.close();

const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(`
  DROP TABLE IF EXISTS plain;
  CREATE TABLE plain AS
    SELECT run_id, request, position, CAST(NULL AS text) AS outcome, CAST(NULL AS text) AS result,
           CAST(NULL AS numeric) AS units, CAST(NULL AS numeric) AS price, CAST(NULL AS timestamptz) AS reported_at
    FROM recipient_outcomes
    ORDER BY random();
  ALTER TABLE plain ADD PRIMARY KEY (run_id, request, position);
  ANALYZE plain;
  CHECKPOINT;
`);
const { rows } = await client.query<{
  run_id: string;
  request: number;
  position: number;
  result: string;
  units: string;
  price: string;
  reported_at: Date;
}>(
  'SELECT run_id, request, position, result, units, price, reported_at FROM recipient_outcomes ORDER BY report_id',
);
const updateBegun = performance.now();
await client.query(
  `UPDATE plain p
   SET outcome = 'delivered', result = r.result, units = r.units, price = r.price, reported_at = r.reported_at
   FROM unnest($1::text[], $2::integer[], $3::integer[], $4::text[], $5::numeric[], $6::numeric[], $7::timestamptz[])
     AS r (run_id, request, position, result, units, price, reported_at)
   WHERE p.run_id = r.run_id AND p.request = r.request AND p.position = r.position`,
  [
    rows.map((row) => row.run_id),
    rows.map((row) => row.request),
    rows.map((row) => row.position),
    rows.map((row) => row.result),
    rows.map((row) => row.units),
    rows.map((row) => row.price),
    rows.map((row) => row.reported_at),
  ],
);
const updating = (performance.now() - updateBegun) / 1000;
await client.end();
console.log(JSON.stringify({ applied, applying, updated: rows.length, updating }));
