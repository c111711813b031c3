import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MessageFields } from '../../../src/domain/message.ts';
import type { RunRates } from '../../../src/domain/rate-card.ts';
import { listFailureGroups } from '../../../src/ledger/counts/groups.ts';
import { restageRecipients } from '../../../src/ledger/planning/restage-recipients.ts';
import { type DividedRequests, divideRequests } from '../../../src/ledger/requests/divide.ts';
import { streamContactResults } from '../../../src/ledger/runs/contact-results.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { inSession, inTransaction } from '../../../src/ledger/session.ts';
import { billingOf } from '../../support/billing.ts';
import { collect } from '../../support/collect.ts';
import { examples } from '../../support/examples.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { aDelivery, applyReadings, receiveReadings } from '../../support/readings.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const owner = '00000000-0000-4000-8000-000000000001';

type Piece = {
  readonly request: number;
  readonly state: string;
  readonly message_id: string;
  readonly divided_from: number | null;
  readonly recipients: number;
  readonly attempts: number;
  readonly lines: readonly number[];
  readonly addresses: readonly string[];
  readonly originals: readonly (string | null)[];
  readonly parts: readonly (number | null)[];
  readonly tariffs: readonly (number | null)[] | null;
  /** Null: no recipient has any. */
  readonly destinations: string | null;
  /** 1-based positions of suppressed recipients. */
  readonly suppressed: readonly number[];
};

async function query<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  return (await opened.ledger.pool.query<Row>(sql, [...values])).rows;
}

function piecesOf(run: string): Promise<Piece[]> {
  return query<Piece>(
    `SELECT q.request, state, message_id, divided_from, recipients, attempts, c.lines, c.addresses, c.tariffs,
            c.destinations,
            ARRAY(SELECT original_address FROM recipients_between(q.run_id, q.request, q.request)
                  ORDER BY position) AS originals,
            ARRAY(SELECT parts FROM recipients_between(q.run_id, q.request, q.request) ORDER BY position) AS parts,
            ARRAY(SELECT position FROM recipient_outcomes o
                  WHERE o.run_id = q.run_id AND o.request = q.request ORDER BY position) AS suppressed
     FROM request_states q
     CROSS JOIN LATERAL chunks_between(q.run_id, q.request, q.request) c
     WHERE q.run_id = $1 ORDER BY q.request`,
    [run],
  );
}

function membersOf(piece: Piece) {
  const destinations: unknown[] =
    piece.destinations === null ? piece.lines.map(() => ({})) : JSON.parse(piece.destinations);
  expect([destinations, piece.addresses, piece.originals, piece.parts].map(({ length }) => length)).toEqual(
    Array(4).fill(piece.recipients),
  );
  const all = piece.lines.map((line, index) =>
    JSON.stringify([
      line,
      piece.addresses[index],
      piece.originals[index],
      piece.parts[index],
      piece.tariffs?.[index],
      destinations[index],
    ]),
  );
  const isSuppressed = (_: string, index: number): boolean => piece.suppressed.includes(index + 1);
  return {
    suppressed: all.filter(isSuppressed),
    others: all.filter((member, index) => !isSuppressed(member, index)),
  };
}

function divide(run: string, requests: readonly number[]): Promise<DividedRequests | undefined> {
  return inTransaction(opened.ledger.pool, (client) => divideRequests(client, { run, requests }));
}

/** Rejects requests after one attempt. */
async function reject(run: string, requests: readonly number[]): Promise<void> {
  await createRequestRows(opened.ledger.pool, run);
  await query(
    `WITH attempt AS (
       INSERT INTO attempts (run_id, request, attempt, owner, started_at, verdict)
       SELECT $1, request, 1, $3, now(), 'rejected' FROM unnest($2::integer[]) AS request
     )
     UPDATE requests SET state = 'rejected', reason = '"invalid"', attempts = 1
     WHERE run_id = $1 AND request = ANY ($2)`,
    [run, requests, owner],
  );
}

async function suppress(run: string, request: number, positions: readonly number[]): Promise<void> {
  await createRequestRows(opened.ledger.pool, run);
  await query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, result, reported_at)
     SELECT $1, $2, position, 'cancelled', 'suppressed at ' || position, now() FROM unnest($3::integer[]) AS position`,
    [run, request, positions],
  );
}

/** A run of one rejected request; its contacts are in lines 2, 3, …. */
async function rejectedRun(contacts: number, suppressed: readonly number[] = []): Promise<string> {
  const planned = Array.from({ length: contacts }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 100 }), planned);
  await suppress(run, 1, suppressed);
  await reject(run, [1]);
  return run;
}

const anyText = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll('\0', ''));
type GeneratedContact = {
  readonly suppressed: boolean;
  readonly invalid: boolean;
  readonly original: string | undefined;
  readonly destination: MessageFields;
  readonly parts: number | null;
  readonly tariff: number;
};

const anyContact: fc.Arbitrary<GeneratedContact> = fc.record({
  suppressed: fc.boolean(),
  invalid: fc.integer({ min: 0, max: 7 }).map((one) => one === 0),
  original: fc.option(anyText, { nil: undefined }),
  destination: fc.dictionary(
    fc.constantFrom('Attention', 'First Name', 'Last Name', 'Company', 'Custom1', 'Custom2'),
    anyText,
  ),
  parts: fc.option(fc.integer({ min: 1, max: 9 })),
  tariff: fc.nat(1),
});

/** Without rates, no contact has a tariff. */
async function planGenerated(
  contacts: readonly GeneratedContact[],
  chunkSize: number,
  rates: RunRates | null,
): Promise<string> {
  let next = 0;
  const run = await planContacts(
    opened.ledger,
    aRun({ chunkSize, rates }),
    contacts.map(({ original, destination }, index) => {
      const address = `+6141${String(index).padStart(7, '0')}`;
      return aContact(index + 2, { address, originalAddress: original || address, destination });
    }),
    {
      partsOf: () => contacts[next++]?.parts ?? null,
      tariffOf: rates && ((address) => contacts[Number(address.slice(5))]?.tariff ?? 0),
    },
  );
  for (const { request, lines } of await piecesOf(run)) {
    await suppress(
      run,
      request,
      lines.flatMap((line, index) => (contacts[line - 2]?.suppressed ? [index + 1] : [])),
    );
  }
  return run;
}

/** Compares a run before and after one division. */
function expectDivided(before: readonly Piece[], after: readonly Piece[]): void {
  const isNew = ({ request }: Piece): boolean => request > before.length;
  expect(after.map(({ request }) => request)).toEqual(after.map((_, index) => index + 1));
  expect(new Set(after.map(({ message_id }) => message_id)).size).toBe(after.length);
  for (const parent of before) {
    const { suppressed, others } = membersOf(parent);
    const kept = after[parent.request - 1];
    const halves = after.filter((piece) => isNew(piece) && piece.divided_from === parent.request);
    if (parent.state !== 'rejected' || others.length < 2) {
      expect([kept, halves]).toEqual([parent, []]);
      continue;
    }
    expect(kept).toMatchObject({
      state: 'rejected',
      attempts: 1,
      message_id: parent.message_id,
      recipients: suppressed.length,
    });
    expect(kept && membersOf(kept)).toEqual({ suppressed, others: [] });
    expect(halves.map(({ state, recipients }) => [state, recipients])).toEqual([
      ['planned', Math.ceil(others.length / 2)],
      ['planned', Math.floor(others.length / 2)],
    ]);
    expect(halves.flatMap((half) => membersOf(half).others)).toEqual(others);
  }
}

async function expectSums(run: string, contacts: number, cancelled: number): Promise<void> {
  const { total, ...states } = (await summariseRun(opened.ledger.pool, run))?.recipients ?? { total: -1 };
  expect(total).toBe(contacts);
  expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(contacts);
  expect(Math.min(...Object.values(states))).toBe(0);
  expect(states).toMatchObject({ cancelled });
}

const sentTo = (pieces: readonly Piece[]): string[] =>
  pieces.flatMap((piece) => membersOf(piece).others).toSorted();

test('repeated division isolates each invalid recipient and neither loses, changes nor duplicates any other', async () => {
  const scenario = fc.record({
    contacts: fc.array(anyContact, { minLength: 1, maxLength: 40 }),
    chunkSize: fc.integer({ min: 1, max: 20 }),
    rates: fc.option(fc.constant({ currency: 'NZD', tariffs: [[], []] })),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ contacts, chunkSize, rates }) => {
      const run = await planGenerated(contacts, chunkSize, rates);
      const hasInvalid = ({ lines, suppressed }: Piece): boolean =>
        lines.some((line, index) => contacts[line - 2]?.invalid && !suppressed.includes(index + 1));
      const planned = await piecesOf(run);
      const tariffs = planned.flatMap((piece) => piece.tariffs ?? []);
      expect(tariffs).toEqual(rates ? contacts.map(({ tariff }) => tariff) : []);

      let pieces = planned;
      for (let divided: DividedRequests | undefined = { first: 1, last: planned.length }; divided; ) {
        const { first } = divided;
        await reject(
          run,
          pieces.filter((piece) => piece.request >= first && hasInvalid(piece)).map(({ request }) => request),
        );
        await query(`UPDATE requests SET state = 'accepted' WHERE run_id = $1 AND state = 'planned'`, [run]);
        const before = await piecesOf(run);
        divided = await divide(
          run,
          before.map(({ request }) => request),
        );
        pieces = await piecesOf(run);
        expect(divided?.last ?? before.length).toBe(pieces.length);
        expectDivided(before, pieces);
        const occupied = pieces.filter(({ recipients }) => recipients > 0);
        expect(occupied.filter((piece) => (piece.tariffs === null) !== (rates === null))).toEqual([]);
        await expectSums(run, contacts.length, contacts.filter(({ suppressed }) => suppressed).length);
      }

      expect(sentTo(pieces)).toEqual(sentTo(planned));
      const alone = pieces
        .filter(({ state }) => state === 'rejected')
        .map((piece) => membersOf(piece).others);
      const invalid = contacts.filter(({ invalid, suppressed }) => invalid && !suppressed);
      expect(alone.filter(({ length }) => length > 0)).toHaveLength(invalid.length);
      expect(alone.every(({ length }) => length <= 1)).toBe(true);
    }),
    examples(15),
  );
});

test('halves keep the text of the destinations byte for byte', async () => {
  const run = await rejectedRun(4, [2]);
  const written = ['{"b": 1,"a":"\\u00e9\\u0000", "a":2.50}', '{"left":"out"}', '{ }', '{"Z":"]","A":"[,"}'];
  await query('UPDATE contents SET destinations = $2 WHERE run_id = $1', [run, `[${written.join(', ')}]`]);
  await divide(run, [1]);
  expect((await piecesOf(run)).map(({ destinations }) => destinations)).toEqual([
    `[${written[1]}]`,
    `[${written[0]},\n${written[2]}]`,
    `[${written[3]}]`,
  ]);
});

test('the new requests are planned, in a new waiting slice after the others', async () => {
  const run = await rejectedRun(3);
  await query(`DELETE FROM slices WHERE run_id = $1`, [run]);
  await query(
    `INSERT INTO slices (run_id, slice, phase, first_request, last_request, claimed_to, state)
     VALUES ($1, 1, 'sending', 1, 1, 1, 'done'), ($1, 2, 'settling doubts', NULL, NULL, NULL, 'done')`,
    [run],
  );
  expect(await divide(run, [1])).toEqual({ first: 2, last: 3 });
  expect(
    await query('SELECT slice, first_request, last_request, state FROM slices WHERE run_id = $1 ORDER BY 1', [
      run,
    ]),
  ).toEqual([
    { slice: 1, first_request: 1, last_request: 1, state: 'done' },
    { slice: 2, first_request: null, last_request: null, state: 'done' },
    { slice: 3, first_request: 2, last_request: 3, state: 'waiting' },
  ]);
  expect((await piecesOf(run)).map(({ state }) => state)).toEqual(['rejected', 'planned', 'planned']);
});

test('suppressed recipients keep their reasons when they are renumbered', async () => {
  const run = await rejectedRun(6, [2, 3, 5]);
  await divide(run, [1]);
  expect(
    await query('SELECT request, position, result FROM recipient_outcomes WHERE run_id = $1 ORDER BY 2', [
      run,
    ]),
  ).toEqual([
    { request: 1, position: 1, result: 'suppressed at 2' },
    { request: 1, position: 2, result: 'suppressed at 3' },
    { request: 1, position: 3, result: 'suppressed at 5' },
  ]);
});

test.each(['planned', 'accepted', 'in_doubt', 'failed', 'cancelled', 'abandoned'])(
  'a request that is %s stays whole',
  async (state) => {
    const run = await rejectedRun(2);
    await query('UPDATE requests SET state = $2 WHERE run_id = $1', [run, state]);
    expect(await divide(run, [1])).toBeUndefined();
  },
);

test('a rejected request with a delivery report stays whole, because the service has it', async () => {
  const run = await rejectedRun(3, [3]);
  await query(
    `INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at)
     VALUES ($1, 1, 1, 'delivered', now())`,
    [run],
  );
  expect(await divide(run, [1])).toBeUndefined();
});

test('a rejected request that was resent stays whole, because the service may have it', async () => {
  const run = await rejectedRun(2);
  await query('UPDATE requests SET resends = 1 WHERE run_id = $1', [run]);
  expect(await divide(run, [1])).toBeUndefined();
});

test.each([
  ['divides a request of a planned run', 'planned', true],
  ['divides a request of a running run', 'running', true],
  ['divides a request of a paused run', 'paused', true],
  ['leaves a request of a completed run whole', 'completed', false],
  ['leaves a request of a cancelled run whole', 'cancelled', false],
])('divideRequests %s', async (_, state, isDivided) => {
  const run = await rejectedRun(2);
  await query('UPDATE runs SET state = $2 WHERE run_id = $1', [run, state]);
  expect((await divide(run, [1])) !== undefined).toBe(isDivided);
});

test('concurrent divisions of one run give every request a number of its own', async () => {
  const contacts = Array.from({ length: 40 }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 2 }), contacts);
  const requests = Array.from({ length: 20 }, (_, index) => index + 1);
  await reject(run, requests);
  const divided = await Promise.all(
    [0, 1, 2, 3].map((rest) =>
      divide(
        run,
        requests.filter((request) => request % 4 === rest || request === 1),
      ),
    ),
  );
  const made = divided.flatMap((range) => (range ? [range.last - range.first + 1] : []));
  expect(made.reduce((sum, count) => sum + count, 0)).toBe(40);
  expect(await piecesOf(run)).toHaveLength(60);
});

/**
 * Request 1 (lines 2–6, with 5 suppressed) was divided into 2 and 3, and request 3 into 4 and 5. Request 5 was
 * rejected; 2 and 4 were accepted.
 */
async function runDividedTwice(): Promise<{ readonly run: string; readonly pieces: readonly Piece[] }> {
  const run = await rejectedRun(5, [4]);
  await divide(run, [1]);
  await reject(run, [3]);
  await divide(run, [3]);
  await query(`UPDATE requests SET state = 'accepted' WHERE run_id = $1 AND request IN (2, 4)`, [run]);
  await query(`UPDATE runs SET state = 'running' WHERE run_id = $1`, [run]);
  await reject(run, [5]);
  const pieces = await piecesOf(run);
  expect(pieces.map(({ lines }) => lines)).toEqual([[5], [2, 3], [], [4], [6]]);
  return { run, pieces };
}

/** By the MessageID of the piece and the line of the recipient. */
async function reportDelivered(reported: readonly (readonly [Piece | undefined, number])[]): Promise<void> {
  const { pool } = opened.ledger;
  const readings = reported.map(([piece, line]) =>
    aDelivery({ messageId: piece?.message_id ?? '', address: `+6140000${String(line).padStart(4, '0')}` }),
  );
  await receiveReadings(pool, readings);
  await applyReadings(pool);
}

/** The last one is for a rejected request, two divisions later. */
const deliveryReports = ([old, half]: readonly Piece[]) =>
  [
    [old, 5],
    [old, 2],
    [half, 3],
    [old, 6],
  ] as const;

describe('a request that was divided twice', () => {
  test('counts no recipient of its own among the failures', async () => {
    const { run } = await runDividedTwice();
    expect(await listFailureGroups(opened.ledger.pool, run)).toMatchObject([
      { state: 'rejected', reason: 'invalid', requests: 3, recipients: 1 },
    ]);
  });

  test('passes its delivery reports on to the recipients in the new requests', async () => {
    const { run, pieces } = await runDividedTwice();
    const [{ last } = { last: 0 }] = await query<{ last: number }>(
      'SELECT coalesce(max(report_id), 0)::integer AS last FROM delivery_reports',
    );
    await reportDelivered(deliveryReports(pieces));
    expect(
      await query('SELECT state FROM delivery_reports WHERE report_id > $1 ORDER BY report_id', [last]),
    ).toEqual([{ state: 'unmatched' }, { state: 'applied' }, { state: 'applied' }, { state: 'applied' }]);
    const results = await inTransaction(opened.ledger.pool, async (client) => {
      const rows = (await collect(streamContactResults(client, run))).flat();
      return rows.map(({ line, state }) => [line, state]);
    });
    expect(results).toEqual([
      [2, 'delivered'],
      [3, 'delivered'],
      [4, 'accepted'],
      [5, 'cancelled'],
      [6, 'delivered'],
    ]);
  });

  test('is billed by the recipients of its new requests', async () => {
    const { run, pieces } = await runDividedTwice();
    await reportDelivered(deliveryReports(pieces));
    expect((await billingOf(opened.ledger.pool, [run])).total).toMatchObject({
      recipients: 4,
      accepted: 3,
      delivered: 3,
    });
  });

  test('is rerun with the recipients that its requests still have', async () => {
    const { run, pieces } = await runDividedTwice();
    await reportDelivered(deliveryReports(pieces));
    const restaged = await inSession(opened.ledger.pool, async (client) => {
      await restageRecipients(client, { run, states: ['rejected', 'cancelled'] }, 'phone', null);
      return (await client.query('SELECT line FROM staged_contacts ORDER BY line')).rows;
    });
    expect(restaged).toEqual([{ line: 5 }]);
  });
});

test('a delivery report for the old request proves nothing about a new one in doubt', async () => {
  const run = await rejectedRun(4);
  await divide(run, [1]);
  await query(`UPDATE requests SET state = 'in_doubt' WHERE run_id = $1 AND request = 2`, [run]);
  const [whole] = await piecesOf(run);
  await reportDelivered([[whole, 2]]);
  expect(await query('SELECT request, outcome FROM recipient_outcomes WHERE run_id = $1', [run])).toEqual([
    { request: 2, outcome: 'delivered' },
  ]);
  expect((await piecesOf(run))[1]).toMatchObject({ state: 'in_doubt' });
});
