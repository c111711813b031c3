import { beforeAll, describe, expect, test } from 'vitest';
import { createFileLoader, toOutgoingRequest } from '../../../src/engine/dispatch/run-files.ts';
import { aContact, anEnvelope, aRun, planContacts } from '../../support/ledger.ts';
import { toStoredDestinations } from '../../support/outgoing.ts';
import type { ClaimedRequest } from '../../support/requests.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
let run: string;
beforeAll(async () => {
  run = await planContacts(opened.ledger, aRun(), [
    aContact(2, { envelope: aStatement('a.pdf') }),
    aContact(3, { envelope: aStatement('b.pdf') }),
  ]);
});

function aStatement(path: string) {
  return anEnvelope(
    { Reference: 'r' },
    { files: [{ path, name: 'Your statement.pdf' }], audio: { Voice: 'v.wav' } },
  );
}

function claimed(path: string): ClaimedRequest {
  return {
    request: 1,
    messageId: 'M1',
    attempt: 1,
    envelope: aStatement(path),
    destinations: toStoredDestinations([{ Recipient: '+64211234567' }]),
  };
}

describe('createFileLoader', () => {
  test('the files of a run are in base64 as they were when the run was planned', async () => {
    const contents = await createFileLoader(opened.ledger.pool, run)([claimed('a.pdf'), claimed('b.pdf')]);
    expect([...contents].toSorted()).toEqual(
      ['a.pdf', 'b.pdf', 'v.wav'].map((path) => [path, Buffer.from(`content of ${path}`).toString('base64')]),
    );
  });

  test('a file is read and encoded once, however many requests carry it', async () => {
    const load = createFileLoader(opened.ledger.pool, run);
    const before = await load([claimed('a.pdf')]);
    // A cached file is not read again.
    await opened.ledger.knex('run_files').where({ run_id: run, path: 'v.wav' }).update({ path: 'moved.wav' });
    const after = await load([claimed('b.pdf')]);
    expect(after.get('v.wav')).toBe(before.get('v.wav'));
    await opened.ledger.knex('run_files').where({ run_id: run, path: 'moved.wav' }).update({ path: 'v.wav' });
  });

  test('a batch needs at most one query for its files, and none if all are cached', async () => {
    const load = createFileLoader(opened.ledger.pool, run);
    let queries = 0;
    const count = () => {
      queries++;
    };
    opened.ledger.pool.on('acquire', count);
    await load([claimed('a.pdf'), claimed('b.pdf'), claimed('a.pdf')]);
    expect(queries).toBe(1);
    await load([claimed('b.pdf'), claimed('a.pdf')]);
    opened.ledger.pool.off('acquire', count);
    expect(queries).toBe(1);
  });
});

describe('toOutgoingRequest', () => {
  const contents = new Map([
    ['a.pdf', 'QUFB'],
    ['v.wav', 'UklGRg=='],
  ]);

  test('an outgoing request has the envelope and its files, under the names for the recipient', () => {
    expect(toOutgoingRequest('voice', claimed('a.pdf'), contents)).toEqual({
      channel: 'voice',
      messageId: 'M1',
      fields: { Reference: 'r', Voice: 'UklGRg==' },
      destinations: toStoredDestinations([{ Recipient: '+64211234567' }]),
      files: [{ Name: 'Your statement.pdf', Data: 'QUFB' }],
      keypads: [],
    });
  });

  test('a missing file makes toOutgoingRequest throw', () => {
    expect(() => toOutgoingRequest('voice', claimed('b.pdf'), contents)).toThrow('the run has no file b.pdf');
  });
});
