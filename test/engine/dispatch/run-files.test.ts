import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunFiles, toOutgoingRequest } from '../../../src/engine/dispatch/run-files.ts';
import {
  aContact,
  anEnvelope,
  aRun,
  openTestLedger,
  planContacts,
  type TestLedger,
} from '../../support/ledger.ts';
import { asStored } from '../../support/outgoing.ts';
import type { ClaimedRequest } from '../../support/requests.ts';

let opened: TestLedger;
let run: string;
beforeAll(async () => {
  opened = await openTestLedger();
  run = await planContacts(opened.ledger, aRun(), [
    aContact(2, { envelope: aStatement('a.pdf') }),
    aContact(3, { envelope: aStatement('b.pdf') }),
  ]);
});
afterAll(() => opened.close());

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
    destinations: asStored([{ Recipient: '+64211234567' }]),
  };
}

describe('the files of a run', () => {
  test('are in base64 what they were when the run was planned', async () => {
    const contents = await createRunFiles(opened.ledger.pool, run).load([claimed('a.pdf'), claimed('b.pdf')]);
    expect([...contents].toSorted()).toEqual(
      ['a.pdf', 'b.pdf', 'v.wav'].map((path) => [path, Buffer.from(`content of ${path}`).toString('base64')]),
    );
  });

  test('are read and encoded once, however many requests carry them', async () => {
    const files = createRunFiles(opened.ledger.pool, run);
    const before = await files.load([claimed('a.pdf')]);
    // What is not read again is not missed.
    await opened.ledger.knex('run_files').where({ run_id: run, path: 'v.wav' }).update({ path: 'moved.wav' });
    const after = await files.load([claimed('b.pdf')]);
    expect(after.get('v.wav')).toBe(before.get('v.wav'));
    await opened.ledger.knex('run_files').where({ run_id: run, path: 'moved.wav' }).update({ path: 'v.wav' });
  });

  test('are asked for at most once a batch, and not at all when they are known', async () => {
    const files = createRunFiles(opened.ledger.pool, run);
    let queries = 0;
    const count = () => {
      queries++;
    };
    opened.ledger.pool.on('acquire', count);
    await files.load([claimed('a.pdf'), claimed('b.pdf'), claimed('a.pdf')]);
    expect(queries).toBe(1);
    await files.load([claimed('b.pdf'), claimed('a.pdf')]);
    opened.ledger.pool.off('acquire', count);
    expect(queries).toBe(1);
  });
});

describe('what is sent for a request', () => {
  const contents = new Map([
    ['a.pdf', 'QUFB'],
    ['v.wav', 'UklGRg=='],
  ]);

  test('is its envelope with the contents of its files, by the names the recipient is to see', () => {
    expect(toOutgoingRequest('voice', claimed('a.pdf'), contents)).toEqual({
      channel: 'voice',
      messageId: 'M1',
      fields: { Reference: 'r', Voice: 'UklGRg==' },
      destinations: asStored([{ Recipient: '+64211234567' }]),
      files: [{ Name: 'Your statement.pdf', Data: 'QUFB' }],
      keypads: [],
    });
  });

  test('is nothing when a file is missing', () => {
    expect(() => toOutgoingRequest('voice', claimed('b.pdf'), contents)).toThrow('the run has no file b.pdf');
  });
});
