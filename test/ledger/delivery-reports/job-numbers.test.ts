import { beforeEach, describe, expect, test } from 'vitest';
import type { Delivery } from '../../../src/ledger/delivery-reports/report-content.ts';
import {
  type ClaimedRequest,
  claimRequests,
  markUnrecordedInDoubt,
  settleRequests,
} from '../../support/claims.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { aDelivery, applyReadings, aReply, receiveReadings } from '../../support/readings.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';

/** Accepted by the service with a job number. */

const opened = testLedger();
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
});

const owner = '00000000-0000-4000-8000-000000000001';
const noon = new Date('2026-11-21T12:00:00Z');
const hoursLater = (hours: number): Date => new Date(noon.getTime() + hours * 3_600_000);

function query(sql: string, values: readonly unknown[] = []) {
  return opened.ledger.pool.query(sql, [...values]).then(({ rows }) => rows);
}

type Sent = { readonly run: string; readonly request: ClaimedRequest };

/** A run with one request, in state `sending`, to the contacts of lines 2 and 3. */
async function sendingRun(account = 'soap'): Promise<Sent> {
  const contacts = [aContact(2), aContact(3)];
  const run = await planContacts(opened.ledger, aRun({ channel: 'tts', account }), contacts);
  const { claimed } = await claimRequests(opened.ledger.pool, { run, owner, limit: 1, now: noon });
  const [request] = claimed;
  if (!request) throw new Error('expected a request to claim');
  return { run, request };
}

function accept({ run, request }: Sent, jobNumber: string | undefined, finishedAt = noon): Promise<number[]> {
  const attempt = { request: request.request, attempt: request.attempt, finishedAt, httpStatus: 200 };
  return settleRequests(opened.ledger.pool, run, owner, [
    {
      ...attempt,
      detail: jobNumber ? `job ${jobNumber}` : null,
      state: 'accepted',
      ...(jobNumber ? { jobNumber } : {}),
    },
  ]);
}

async function acceptedRun(job: string, account?: string, finishedAt?: Date): Promise<Sent> {
  const sent = await sendingRun(account);
  expect(await accept(sent, job, finishedAt)).toEqual([1]);
  return sent;
}

const jobs = () => query('SELECT job_number, account, run_id, request FROM job_numbers ORDER BY run_id');
const applied = () =>
  query('SELECT state, run_id, request, position FROM delivery_reports ORDER BY report_id');

/** Receives a report on the contact of line 3, and applies due reports. */
async function apply(changes: Partial<Delivery>, { account = 'soap', at = noon } = {}): Promise<void> {
  const delivery = { address: '+61400000003', result: 'Sent Ok', units: '12', price: '0.150', ...changes };
  await receiveReadings(opened.ledger.pool, [aDelivery(delivery)], { account, receivedAt: at });
  await applyDue(at);
}

const applyDue = (now: Date) => applyReadings(opened.ledger.pool, { now });

describe('job numbers in answers', () => {
  test('a job number is stored in capitals with the accepted request', async () => {
    const { run } = await acceptedRun('12ab34cd');
    expect(await jobs()).toEqual([{ job_number: '12AB34CD', account: 'soap', run_id: run, request: 1 }]);
  });

  test('a job number is stored even if the answer comes after the request was marked in doubt', async () => {
    const sent = await sendingRun();
    await markUnrecordedInDoubt(opened.ledger.pool, sent.run, noon);
    expect(await accept(sent, '12AB34CD')).toEqual([1]);
    expect(await jobs()).toHaveLength(1);
  });

  test('a job number is stored even if an operator settled the request in the meantime', async () => {
    const sent = await sendingRun();
    await markUnrecordedInDoubt(opened.ledger.pool, sent.run, noon);
    await query(`UPDATE requests SET state = 'abandoned' WHERE run_id = $1`, [sent.run]);
    expect(await accept(sent, '12AB34CD')).toEqual([]);
    expect(await jobs()).toHaveLength(1);
  });

  test('an answer without a job number stores none', async () => {
    const sent = await sendingRun();
    expect(await accept(sent, undefined)).toEqual([1]);
    expect(await jobs()).toEqual([]);
  });
});

describe('matching a delivery report', () => {
  test.each<[string, Partial<Delivery>]>([
    ['by the job number alone', { jobNumber: '12AB34CD' }],
    ['by a job number in other capitals', { jobNumber: '12ab34cd' }],
    ['by a MessageID that is the job number', { messageId: '12AB34CD' }],
    ['by the job number beside a MessageID of the service', { messageId: 'ours?', jobNumber: '12AB34CD' }],
  ])('a delivery report matches its recipient: %s', async (_, named) => {
    const { run } = await acceptedRun('12AB34CD');
    await apply(named);
    expect(await applied()).toEqual([{ state: 'applied', run_id: run, request: 1, position: 2 }]);
    expect(
      await query('SELECT outcome, units, price FROM recipient_outcomes WHERE run_id = $1', [run]),
    ).toEqual([{ outcome: 'delivered', units: '12', price: '0.150' }]);
  });

  test('a delivery report matches by MessageID, even if its job number belongs to another request', async () => {
    const { run, request } = await acceptedRun('12AB34CD');
    await acceptedRun('12AB34CE');
    await apply({ messageId: request.messageId, jobNumber: '12AB34CE' });
    expect(await applied()).toMatchObject([{ state: 'applied', run_id: run }]);
  });

  test('a delivery report never matches by job number if its MessageID is known and has no such recipient', async () => {
    const { request } = await acceptedRun('12AB34CD');
    await acceptedRun('12AB34CE');
    await query(`UPDATE contents SET addresses = '{+1, +2}' WHERE run_id = $1`, [
      (await jobs()).find(({ job_number }) => job_number === '12AB34CD')?.run_id,
    ]);
    await apply({ messageId: request.messageId, jobNumber: '12AB34CE' });
    expect(await applied()).toMatchObject([{ state: 'unmatched' }]);
  });

  test('a delivery report matches job numbers of its own account only', async () => {
    const { run } = await acceptedRun('12AB34CD', 'north');
    await acceptedRun('12AB34CD', 'south');
    await apply({ jobNumber: '12AB34CD' }, { account: 'north' });
    await apply({ jobNumber: '12AB34CD' }, { account: 'west' });
    expect(await applied()).toMatchObject([{ state: 'applied', run_id: run }, { state: 'unmatched' }]);
  });

  test('a delivery report matches the last request that had its job number when it arrived', async () => {
    const old = await acceptedRun('12AB34CD', 'soap', noon);
    const middle = await acceptedRun('12AB34CD', 'soap', hoursLater(10));
    await acceptedRun('12AB34CD', 'soap', hoursLater(20));
    await apply({ jobNumber: '12AB34CD' }, { at: hoursLater(1) });
    await apply({ jobNumber: '12AB34CD' }, { at: hoursLater(11) });
    expect(await applied()).toMatchObject([
      { state: 'applied', run_id: old.run },
      { state: 'applied', run_id: middle.run },
    ]);
  });

  test('a delivery report that arrives before the answer matches once the job number is recorded', async () => {
    const sent = await sendingRun();
    await apply({ jobNumber: '12AB34CD' });
    expect(await applied()).toMatchObject([{ state: 'unmatched' }]);
    await accept(sent, '12AB34CD', hoursLater(0));
    expect(await applyDue(noon)).toBe(0);
    expect(await applyDue(hoursLater(1))).toBe(1);
    expect(await applied()).toMatchObject([{ state: 'applied', run_id: sent.run }]);
  });

  test('a match by job number proves a request that is in doubt again', async () => {
    const { run } = await acceptedRun('12AB34CD');
    await createRequestRows(opened.ledger.pool, run);
    await query(`UPDATE requests SET state = 'in_doubt' WHERE run_id = $1`, [run]);
    await apply({ jobNumber: '12AB34CD' });
    expect(await query('SELECT state FROM request_states WHERE run_id = $1', [run])).toEqual([
      { state: 'accepted' },
    ]);
  });
});

test('a reply is stored with the recipient of the job number that it answers', async () => {
  const { run } = await acceptedRun('12AB34CD');
  const reply = aReply({ jobNumber: '12AB34CD' });
  await receiveReadings(opened.ledger.pool, [reply], { account: 'soap', receivedAt: noon });
  await applyDue(noon);
  expect(await applied()).toEqual([{ state: 'inbound', run_id: run, request: 1, position: 1 }]);
});
