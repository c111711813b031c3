import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Contact } from '../../../src/domain/contacts.ts';
import type { Envelope } from '../../../src/domain/message.ts';
import { summariseRun } from '../../../src/ledger/runs/describe-run.ts';
import { readRunFiles } from '../../../src/ledger/runs/run-files.ts';
import { claimRequests } from '../../support/claims.ts';
import { examples } from '../../support/examples.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { addressesOf, toStoredDestinations } from '../../support/outgoing.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

const owner = '00000000-0000-4000-8000-000000000001';

async function plannedRequests(run: string) {
  return (await claimRequests(opened.ledger.pool, { run, owner, limit: 1_000, now: new Date() })).claimed;
}

async function plan(contacts: readonly Contact[], changes = {}): Promise<string> {
  return planContacts(opened.ledger, aRun(changes), contacts);
}

test('recipients with equal envelopes share chunks of the given size', async () => {
  const run = await plan([1, 2, 3, 4, 5].map((line) => aContact(line)));
  const requests = await plannedRequests(run);
  expect(requests.map(({ destinations }) => destinations.count)).toEqual([2, 2, 1]);
});

test('recipients with different envelopes never share a request', async () => {
  const run = await plan([
    aContact(2, { envelope: anEnvelope({ Message: 'Hello', ChargeCode: 'A' }) }),
    aContact(3, { envelope: anEnvelope({ Message: 'Hello', ChargeCode: 'B' }) }),
    aContact(4, { envelope: anEnvelope({ Message: 'Hello', ChargeCode: 'A' }) }),
  ]);
  const requests = await plannedRequests(run);
  expect(
    requests.map(({ envelope, destinations }) => [envelope.fields['ChargeCode'], destinations.count]),
  ).toEqual([
    ['A', 2],
    ['B', 1],
  ]);
});

test('recipients with different files, audio or keypads never share a request', async () => {
  const fields = { Message: 'Hello' };
  const [one, other] = ['1.pdf', '2.pdf'];
  const run = await plan([
    aContact(2, { envelope: anEnvelope(fields, { files: [{ path: one, name: 'a' }] }) }),
    aContact(3, { envelope: anEnvelope(fields, { files: [{ path: other, name: 'a' }] }) }),
    aContact(4, { envelope: anEnvelope(fields, { files: [{ path: one, name: 'b' }] }) }),
    aContact(5, { envelope: anEnvelope(fields, { audio: { MessageToPeople: one } }) }),
    aContact(6, { envelope: anEnvelope(fields, { keypads: [{ Tone: '1', RouteNumber: '+64' }] }) }),
    aContact(7, { envelope: anEnvelope(fields, { files: [{ path: one, name: 'a' }] }) }),
  ]);
  const sizes = (await plannedRequests(run)).map(({ destinations }) => destinations.count);
  expect(sizes).toEqual([2, 1, 1, 1, 1]);
});

test('each file that an envelope refers to is stored once, as it was at planning time', async () => {
  const read: string[] = [];
  const readFile = async (path: string): Promise<Buffer> => {
    read.push(path);
    return Buffer.from(`${path} at first`);
  };
  const files = [
    { path: 'all.pdf', name: 'a' },
    { path: 'docs/all.pdf', name: 'b' },
  ];
  const run = await plan(
    [
      aContact(2, { envelope: anEnvelope({}, { files }) }),
      aContact(3, { envelope: anEnvelope({}, { files, audio: { MessageToPeople: 'one.wav' } }) }),
      aContact(4, { envelope: anEnvelope({}, { audio: { MessageToPeople: 'one.wav' } }) }),
    ],
    { files: { kind: 'read', readFile } },
  );
  expect(read.toSorted()).toEqual(['all.pdf', 'docs/all.pdf', 'one.wav']);
  const stored = await readRunFiles(opened.ledger.pool, run, ['one.wav', 'all.pdf', 'other.pdf']);
  expect(stored.map(({ path, data }) => [path, data.toString()]).toSorted()).toEqual([
    ['all.pdf', 'all.pdf at first'],
    ['one.wav', 'one.wav at first'],
  ]);
});

test('a file that cannot be read leaves no run behind', async () => {
  const readFile = async (): Promise<Buffer> => {
    throw new Error('unreadable');
  };
  const changes = { run: 'without-its-file', files: { kind: 'read', readFile } };
  const contacts = [aContact(2, { envelope: anEnvelope({}, { files: [{ path: 'a', name: 'a' }] }) })];
  await expect(plan(contacts, changes)).rejects.toThrow('unreadable');
  expect(await summariseRun(opened.ledger.pool, 'without-its-file')).toBeUndefined();
});

test('requests, and recipients within them, are in file order', async () => {
  const run = await plan(
    [5, 3, 9, 2, 7].map((line) =>
      aContact(line, { envelope: anEnvelope({ Message: line > 6 ? 'late' : 'early' }) }),
    ),
    { chunkSize: 10 },
  );
  const requests = await plannedRequests(run);
  expect(requests.map(({ destinations }) => addressesOf(destinations))).toEqual([
    ['+61400000002', '+61400000003', '+61400000005'],
    ['+61400000007', '+61400000009'],
  ]);
});

test('the first of equal addresses stays, and the others are rejected with its line', async () => {
  const address = '+61400000002';
  const run = await plan([aContact(2), aContact(3), aContact(4, { address }), aContact(5, { address })]);
  expect((await summariseRun(opened.ledger.pool, run))?.contacts).toEqual({
    read: 4,
    invalid: 0,
    duplicate: 2,
    suppressed: 0,
  });
  expect(await rejectedContactsOf(opened.ledger.pool, run)).toEqual([
    { file: '', line: 4, column: 'phone', reason: 'duplicate', detail: 'same address as line 2' },
    { file: '', line: 5, column: 'phone', reason: 'duplicate', detail: 'same address as line 2' },
  ]);
});

test('a rejected contact does not make a later one a duplicate', async () => {
  const run = await plan([
    {
      kind: 'rejected',
      file: 0,
      line: 2,
      column: 'city',
      reason: 'invalid',
      detail: 'contains a NUL character',
    },
    aContact(3),
  ]);
  expect((await summariseRun(opened.ledger.pool, run))?.recipients.total).toBe(1);
});

test('MessageIDs are alphanumeric, have at most 40 characters, and differ between requests and runs', async () => {
  const contacts = Array.from({ length: 50 }, (_, index) => aContact(index + 2));
  const ids = [
    ...(await plannedRequests(await plan(contacts, { chunkSize: 1 }))),
    ...(await plannedRequests(await plan(contacts, { chunkSize: 1 }))),
  ].map(({ messageId }) => messageId);
  expect(ids.every((id) => /^[0-9A-Za-z]{20,40}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(100);
});

test('any text is read from the ledger as it was written, with or without a row of the request', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => value.replaceAll('\0', ''));
  await fc.assert(
    fc.asyncProperty(
      text,
      text,
      fc.constantFrom('\\', '\t', '\n', '\r', '\\N', '\\.', '"', '{'),
      async (message, name, special) => {
        const value = `${message}${special}`;
        const envelope: Envelope = {
          fields: { Message: value },
          keypads: [{ Tone: '1', RouteNumber: value }],
          files: [{ path: `statements/${name}`, name: value }],
          audio: { MessageToPeople: value },
        };
        const destinations = [1, 2, 3].map((line) => {
          return { Recipient: `${line}${name}${special}`, 'First Name': `${special}${name}` };
        });
        const contacts = destinations.map(({ Recipient, ...destination }, line) =>
          aContact(line, { address: Recipient, envelope, destination }),
        );
        for (const chunkSize of [3, 1]) {
          const run = await plan(contacts, { chunkSize });
          const withRows = await plan(contacts, { chunkSize });
          await createRequestRows(opened.ledger.pool, withRows);
          for (const requests of [await plannedRequests(run), await plannedRequests(withRows)]) {
            expect(requests[0]?.envelope).toEqual(envelope);
            expect(requests.map((request) => request.destinations)).toEqual(
              chunkSize === 3
                ? [toStoredDestinations(destinations)]
                : destinations.map((one) => toStoredDestinations([one])),
            );
          }
        }
      },
    ),
    examples(12),
  );
});

test('a file with only rejected contacts makes a run without requests', async () => {
  const run = await plan([]);
  const summary = await summariseRun(opened.ledger.pool, run);
  expect(summary?.requests.total).toBe(0);
  expect(summary?.contacts.read).toBe(0);
});

test('a failure during planning leaves nothing of the run behind', async () => {
  const run = aRun();
  await planContacts(opened.ledger, run, [aContact(2)]);
  const { messageKey, ...rerun } = run;
  // The run id exists, so the transaction fails after staging and numbering.
  await expect(
    planContacts(opened.ledger, { ...rerun, messageKey }, [aContact(2), aContact(3)]),
  ).rejects.toThrow(/runs_pkey/);
  expect((await summariseRun(opened.ledger.pool, run.run))?.recipients.total).toBe(1);
});

test('requests and recipients are counted once each, whatever the contacts', async () => {
  const contact = fc.record({
    address: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
    code: fc.constantFrom('X', 'Y', 'Z'),
    invalid: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(contact, { maxLength: 40 }),
      fc.integer({ min: 1, max: 5 }),
      async (rows, chunkSize) => {
        const contacts = rows.map(
          ({ address, code, invalid }, index): Contact =>
            invalid
              ? {
                  kind: 'rejected',
                  file: 0,
                  line: index + 2,
                  column: 'phone',
                  reason: 'invalid',
                  detail: 'no',
                }
              : aContact(index + 2, { address, envelope: anEnvelope({ ChargeCode: code }) }),
        );
        const summary = await summariseRun(opened.ledger.pool, await plan(contacts, { chunkSize }));
        const good = rows.filter(({ invalid }) => !invalid);
        const first = good.filter(
          (row, index) => good.findIndex(({ address }) => address === row.address) === index,
        );
        const chunks = ['X', 'Y', 'Z'].map((code) =>
          Math.ceil(first.filter((row) => row.code === code).length / chunkSize),
        );
        expect(summary?.recipients.total).toBe(first.length);
        expect(summary?.requests.total).toBe(chunks.reduce((sum, size) => sum + size, 0));
        expect(summary?.contacts).toEqual({
          read: rows.length,
          invalid: rows.length - good.length,
          duplicate: good.length - first.length,
          suppressed: 0,
        });
      },
    ),
    examples(15),
  );
});
