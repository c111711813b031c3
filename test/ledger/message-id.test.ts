import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { isMessageId, parseMessageId } from '../../src/ledger/message-id.ts';
import { findRequestsByMessageId } from '../../src/ledger/requests/by-message-id.ts';
import { aContact, aRun, planContacts } from '../support/ledger.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();

const numbers = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const keys = fc.uint8Array({ minLength: 16, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const otherDigit = (digit: string): string => (digit === '0' ? '1' : '0');

const parts = fc.array(fc.tuple(numbers, keys, numbers), { minLength: 1, maxLength: 100 });

/** Calls `check` with MessageIDs as the ledger makes them, and their parts. */
async function forMessageIds(
  check: (id: string, made: { run: number; key: Buffer; request: number; otherKey: Buffer }) => void,
): Promise<void> {
  const property = fc.asyncProperty(parts, keys, async (all, otherKey) => {
    const { rows } = await opened.ledger.pool.query<{ id: string }>(
      `SELECT message_id(run_number, message_key, request) AS id
       FROM unnest($1::integer[], $2::bytea[], $3::integer[]) AS all_of (run_number, message_key, request)`,
      [all.map(([run]) => run), all.map(([, key]) => key), all.map(([, , request]) => request)],
    );
    for (const [index, [run, key, request]] of all.entries())
      check(rows[index]?.id ?? '', { run, key, request, otherKey });
  });
  await fc.assert(property, { numRuns: 20 });
}

test('a MessageID is alphanumeric, has 36 characters and contains run and request, in any case', async () => {
  await forMessageIds((id, { run, key, request }) => {
    expect(id).toMatch(/^[0-9a-f]{36}$/);
    for (const written of [id, id.toUpperCase()]) {
      expect(parseMessageId(written)).toEqual({ runNumber: run, request });
      expect(isMessageId(written, key)).toBe(true);
    }
  });
});

test('a MessageID with a changed digit, or with the key of another run, is invalid', async () => {
  await forMessageIds((id, { key, request, otherKey }) => {
    const index = request % 36;
    const changed = id.slice(0, index) + otherDigit(id[index] ?? '') + id.slice(index + 1);
    expect(isMessageId(changed, key)).toBe(false);
    expect(isMessageId(id, otherKey)).toBe(key.equals(otherKey));
  });
});

describe('finding requests by MessageID', () => {
  test('MessageIDs of all runs are found at once, each as it is written', async () => {
    const runs = [await planned(), await planned()];
    const ids = await Promise.all(runs.map(messageIdsOf));
    const [[one = '', two = ''] = [], [three = ''] = []] = ids;
    const forged = two.slice(0, 16) + three.slice(16);
    const written = [one, two.toUpperCase(), three, forged, 'other', one];
    expect(await findRequestsByMessageId(opened.ledger.pool, written)).toEqual(
      new Map([
        [one, { run: runs[0], request: 1, runAccount: 'sandbox' }],
        [two.toUpperCase(), { run: runs[0], request: 2, runAccount: 'sandbox' }],
        [three, { run: runs[1], request: 1, runAccount: 'sandbox' }],
      ]),
    );
  });

  test('text that is no MessageID is not looked up in the ledger', async () => {
    const ended = new pg.Pool();
    await ended.end();
    const foreign = [
      '',
      'abc',
      '-'.repeat(36),
      'f'.repeat(36),
      '0'.repeat(35),
      '0'.repeat(37),
      `${'0'.repeat(36)}\n`,
    ];
    expect(await findRequestsByMessageId(ended, foreign)).toEqual(new Map());
    await expect(findRequestsByMessageId(ended, ['0'.repeat(36)])).rejects.toThrow('after calling end');
  });
});

test('a caller that does not select the MessageID of a request does not have it computed', async () => {
  const plan = async (columns: string): Promise<string> => {
    const { rows } = await opened.ledger.pool.query(
      `EXPLAIN VERBOSE SELECT ${columns} FROM requests_between('any', 1, 10)`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  expect(await plan('request, state, envelope')).not.toContain('sha256');
  expect(await plan('request, message_id')).toContain('sha256');
});

function planned(): Promise<string> {
  return planContacts(opened.ledger, aRun({ chunkSize: 1 }), [aContact(2), aContact(3)]);
}

async function messageIdsOf(run: string): Promise<string[]> {
  const { rows } = await opened.ledger.pool.query<{ message_id: string }>(
    'SELECT message_id FROM request_states WHERE run_id = $1 ORDER BY request',
    [run],
  );
  return rows.map(({ message_id }) => message_id);
}
