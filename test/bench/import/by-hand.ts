import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** Seconds to copy the file into one table, and until it is ready to be sent. */
export type ByHand = { readonly copy: number; readonly ready: number };

/**
 * What a user would write by hand: a regular expression for Australian mobiles, the first of equal numbers, without
 * suppressed ones, in requests of 200 by payer. It reports no rejected contacts and keeps no file.
 */
export async function importByHand(url: string, file: string): Promise<ByHand> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`
    DROP TABLE IF EXISTS bare, by_hand;
    CREATE TABLE bare (a text, b text, c text, d text, e text, f text, g text);
    CREATE TABLE by_hand (request integer, "position" integer, address text, fields jsonb);
  `);
  const begun = performance.now();
  await pipeline(createReadStream(file), client.query(copyFrom('COPY bare FROM STDIN (FORMAT csv, HEADER)')));
  const copied = performance.now();
  await client.query("SET work_mem = '256MB'");
  await client.query(`
    INSERT INTO by_hand
    SELECT envelope * 10000 + (number - 1) / 200, (number - 1) % 200 + 1, address,
           jsonb_build_object('First Name', a, 'Last Name', b, 'Custom1', d)
    FROM (
      SELECT *, dense_rank() OVER (ORDER BY e, f) AS envelope, row_number() OVER (PARTITION BY e, f ORDER BY line) AS number
      FROM (
        SELECT DISTINCT ON (address) *
        FROM (SELECT *, ctid AS line, '+61' || substr(regexp_replace(c, '\\D', '', 'g'), 2) AS address FROM bare) AS read
        WHERE address ~ '^\\+614\\d{8}$'
        ORDER BY address, line
      ) AS first
      WHERE NOT EXISTS (SELECT FROM suppressions s WHERE s.channel = 'sms' AND s.address = first.address)
    ) AS placed
  `);
  const ready = performance.now();
  await client.query('DROP TABLE bare, by_hand');
  await client.end();
  return { copy: (copied - begun) / 1000, ready: (ready - begun) / 1000 };
}
