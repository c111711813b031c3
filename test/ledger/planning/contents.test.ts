import fc from 'fast-check';
import { expect, test } from 'vitest';
import { examples } from '../../support/examples.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

async function query<Row extends object>(sql: string, values: readonly unknown[]): Promise<Row[]> {
  return (await opened.ledger.pool.query<Row>(sql, [...values])).rows;
}

type DbBlock = {
  readonly first: number;
  readonly last: number;
  readonly slice: number;
  readonly recipients: number;
};

/** Each block with its slice. */
function blocksOf(run: string): Promise<DbBlock[]> {
  return query<DbBlock>(
    `SELECT c.first_request AS first, c.last_request AS last, s.slice, cardinality(c.lines) AS recipients
     FROM contents c
     JOIN slices s ON s.run_id = c.run_id AND c.first_request BETWEEN s.first_request AND s.last_request
     WHERE c.run_id = $1 AND c.last_request <= s.last_request
     ORDER BY 1`,
    [run],
  );
}

test('a block has 32 requests of one recipient each, whatever the maximum chunk size', async () => {
  const contacts = Array.from({ length: 70 }, (_, index) =>
    aContact(index + 2, { envelope: anEnvelope({ Message: `Hello ${index}` }) }),
  );
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 200 }), contacts);
  expect(await blocksOf(run)).toEqual([
    { first: 1, last: 32, slice: 1, recipients: 32 },
    { first: 33, last: 64, slice: 1, recipients: 32 },
    { first: 65, last: 70, slice: 1, recipients: 6 },
  ]);
});

test('a block ends with its slice', async () => {
  const contacts = Array.from({ length: 1_040 }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1, firstRequests: 10 }), contacts);
  const blocks = await blocksOf(run);
  const slices = await query(
    "SELECT slice, last_request AS last FROM slices WHERE run_id = $1 AND phase = 'sending' ORDER BY slice",
    [run],
  );
  expect(slices.length).toBeGreaterThan(2);
  expect(blocks.filter(({ slice }, index) => blocks[index + 1]?.slice !== slice)).toMatchObject(slices);
  expect(blocks.reduce((sum, { recipients }) => sum + recipients, 0)).toBe(1_040);
});

test('every recipient is found by its request alone, among all of the run, and by address', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        chunkSize: fc.integer({ min: 1, max: 40 }),
        firstRequests: fc.option(fc.integer({ min: 1, max: 5 })),
        texts: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 120 }),
        carries: fc.boolean(),
      }),
      async ({ chunkSize, firstRequests, texts, carries }) => {
        const destinationOf = (index: number) =>
          carries && index % 3 === 0 ? { Attention: `Ann ${index}` } : {};
        const contacts = texts.map((text, index) =>
          aContact(index + 2, {
            envelope: anEnvelope({ Message: `Hello ${text}` }),
            destination: destinationOf(index),
          }),
        );
        const run = await planContacts(opened.ledger, aRun({ chunkSize, firstRequests }), contacts);
        const [found] = await query<Record<'requests' | 'all' | 'alone' | 'chunks' | 'fields', unknown[]>>(
          `
          WITH request AS (SELECT request, recipients, envelope FROM requests_between($1, 1, 2147483647))
          SELECT (SELECT json_agg(json_build_array(request, recipients) ORDER BY request) FROM request) AS requests,
                 (SELECT json_agg(json_build_array(request, position, line, address) ORDER BY request, position)
                  FROM recipients_between($1, 1, 2147483647)) AS all,
                 (SELECT json_agg(json_build_array(q.request, r.position, r.line, r.address) ORDER BY q.request, r.position)
                  FROM request q
                  CROSS JOIN LATERAL recipients_between($1, q.request, q.request) r
                  CROSS JOIN LATERAL position_of($1, q.request, ltrim(r.address, '+')) p
                  WHERE p.position = r.position) AS alone,
                 (SELECT json_agg(json_build_array(q.request, cardinality(c.lines)) ORDER BY q.request)
                  FROM request q
                  CROSS JOIN LATERAL chunks_between($1, q.request, q.request) c) AS chunks,
                 (SELECT json_agg(json_build_array(l.line, coalesce(CAST(c.destinations AS json) -> CAST(l.number - 1 AS integer), '{}'))
                                  ORDER BY l.line)
                  FROM request q
                  CROSS JOIN LATERAL chunks_between($1, q.request, q.request) c
                  CROSS JOIN LATERAL unnest(c.lines) WITH ORDINALITY AS l (line, number)) AS fields
          `,
          [run],
        );
        expect(found?.alone).toEqual(found?.all);
        expect(found?.chunks).toEqual(found?.requests);
        expect(found?.fields).toEqual(texts.map((_, index) => [index + 2, destinationOf(index)]));
        const blocks = await blocksOf(run);
        expect(blocks.reduce((sum, { recipients }) => sum + recipients, 0)).toBe(contacts.length);
        expect(blocks.every(({ first, last }) => last - first < 32)).toBe(true);
      },
    ),
    examples(20),
  );
});

test('looking up one request reads one row of contents, however many rows its run has', async () => {
  const contacts = Array.from({ length: 2_000 }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  for (const name of [
    'recipients_between(w.run, w.request, w.request)',
    "position_of(w.run, w.request, '+1')",
  ]) {
    const rows = await query<{ 'QUERY PLAN': unknown }>(
      `EXPLAIN (ANALYZE, FORMAT JSON)
       SELECT * FROM unnest(ARRAY[$1::text, $1], ARRAY[3, 1000]) AS w (run, request) CROSS JOIN LATERAL ${name}`,
      [run],
    );
    const plan = JSON.stringify(rows);
    const scans = [...plan.matchAll(/"Index Scan".*?"Actual Rows":([\d.]+),"Actual Loops":(\d+)/g)];
    const made = scans
      .map(([, found, loops]) => [Number(found), Number(loops)])
      .filter(([, loops]) => loops !== 0);
    expect(made).toEqual([[1, 2]]);
    expect(plan).not.toContain('Seq Scan');
  }
});
