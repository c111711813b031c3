import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { reportBilling } from '../../../src/ledger/billing/report.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { allBilling } from '../../support/billing.ts';
import { expectLines } from '../../support/billing-compare.ts';
import { addUp, recount } from '../../support/billing-recount.ts';
import type { BillingStep, SentEnd } from '../../support/billing-steps.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { testLedger } from '../../support/test-ledger.ts';

/**
 * Every change of a request that may be booked is recorded. Each caller that records one has a history here: its
 * billing is right, and wrong without that record.
 */

const opened = testLedger();

const plan = (contacts: number, chunkSize: number): BillingStep => ({
  kind: 'plan',
  channel: 'sms',
  payers: [{}],
  contacts,
  chunkSize,
  rates: null,
});
const send = (...ends: SentEnd[]): BillingStep => ({
  kind: 'send',
  run: 0,
  requests: ends.length,
  ends,
});
const answer = (end: SentEnd): BillingStep => ({ kind: 'answer', run: 0, ends: [end] });
const report: BillingStep = {
  kind: 'report',
  reports: [{ recipient: 0, outcome: 'delivered', units: '2', price: '0.1' }],
};
const resolve = (resolution: 'accepted' | 'resend'): BillingStep => ({ kind: 'resolve', run: 0, resolution });
const ofRun = (
  kind: 'doubt' | 'doubtRepeated' | 'reportWhole' | 'lookUp' | 'resend' | 'restore' | 'retry',
): BillingStep => ({
  kind,
  run: 0,
});
const inSecondRun = (step: BillingStep): BillingStep => ('run' in step ? { ...step, run: 1 } : step);
const book: BillingStep = { kind: 'book' };
const tomorrow: BillingStep = { kind: 'wait', minutes: 24 * 60 };
const inDoubt = [plan(1, 1), send('in_doubt'), book];
const sending = [plan(1, 1), send('lost'), ofRun('retry')];
/** A report on the whole of a divided request proves nothing about a part, which may be released and retried. */
const released = [
  plan(2, 2),
  send('lost'),
  ofRun('retry'),
  answer('divided'),
  send('busy', 'busy'),
  ofRun('reportWhole'),
  book,
  tomorrow,
];

type History = {
  readonly calls: string;
  readonly when: string;
  readonly before: readonly BillingStep[];
  /** The step that is not recorded. */
  readonly step: BillingStep;
  readonly after?: readonly BillingStep[];
};

const histories: readonly History[] = [
  { calls: 'prove.ts', when: 'a report proves a request', before: inDoubt, step: report },
  {
    calls: 'doubt.ts',
    when: 'a job number is repeated',
    before: [plan(1, 1), send('numbered'), plan(1, 1), inSecondRun(send('numbered')), book],
    step: inSecondRun(ofRun('doubtRepeated')),
  },
  { calls: 'resolve.ts', when: 'a run resends requests in doubt', before: inDoubt, step: ofRun('resend') },
  { calls: 'resolve.ts', when: 'an operator resolves a doubt', before: inDoubt, step: resolve('accepted') },
  { calls: 'resolve.ts', when: 'a look-up settles a doubt', before: inDoubt, step: ofRun('lookUp') },
  {
    calls: 'settle.ts',
    when: 'a request in doubt is answered',
    before: [plan(1, 1), send('lost'), ofRun('doubt'), book],
    step: answer('accepted'),
  },
  {
    calls: 'divide.ts',
    when: 'a request is divided',
    before: [plan(2, 2), send('lost'), ofRun('retry'), book],
    step: answer('divided'),
    after: [send('accepted', 'accepted')],
  },
  {
    calls: 'release.ts',
    when: 'a request is retried after a report',
    before: [...sending, report, book, tomorrow],
    step: ofRun('retry'),
  },
  {
    calls: 'claim-rows.ts',
    when: 'a released request is claimed after a report',
    before: released,
    step: send('accepted', 'accepted'),
  },
  {
    calls: 'doubt.ts',
    when: 'a ledger is restored after a report',
    before: released,
    step: ofRun('restore'),
  },
];

async function expectBillingIsRight(): Promise<void> {
  const { pool } = opened.ledger;
  while (await bookPending(pool));
  const by = ['run', 'day'] as const;
  const { lines } = await inTransaction(pool, (client) => reportBilling(client, { ...allBilling, by }));
  expectLines(lines, addUp(await recount(pool, 'UTC'), by));
}

test.each(histories)(
  'billing is right when $when, and wrong when $calls does not record the change',
  async (history) => {
    const { pool } = opened.ledger;
    const lossy = withoutBillingChanges(pool);
    for (const through of [pool, lossy.pool]) {
      const world = await createWorld(opened.ledger, '2026-09-10T10:00:00Z');
      for (const step of history.before) {
        await performNextStep(world, step);
        if (step.kind === 'book') while (await bookPending(pool));
      }
      await performNextStep(world, history.step, through);
      for (const step of history.after ?? []) await performNextStep(world, step);
      if (through === pool) await expectBillingIsRight();
      else await expect(expectBillingIsRight()).rejects.toMatchObject({ name: 'AssertionError' });
    }
    expect(lossy.forgotten()).toBe(1);
  },
);

test('what the service charges for a request that it had rejected whole is billed, though its part was not sent', async () => {
  const { pool } = opened.ledger;
  for (const end of [undefined, { kind: 'cancel', run: 0 } as const]) {
    const world = await createWorld(opened.ledger, '2026-11-30T10:59:00Z');
    for (const step of [plan(2, 2), send('divided'), ofRun('reportWhole'), ...(end ? [end] : [])])
      await performNextStep(world, step);
    while (await bookPending(pool));
    const { totals } = await inTransaction(pool, (client) => reportBilling(client, allBilling));
    expect(totals).toMatchObject([
      { requests: 1, recipients: 0, delivered: 0, reportedUnsent: 1, price: '0.1' },
    ]);
    await expectBillingIsRight();
  }
});

test('every caller that records a billing change has a history in this test', async () => {
  const folder = new URL('../../../src/ledger/requests/', import.meta.url);
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    const text = await readFile(new URL(name, folder), 'utf8');
    for (const _ of text.matchAll(/\b(?:recordReopenedRequests|moveOutcomesToLastAttempt)\(/g))
      found.push(name);
  }
  expect(found.toSorted()).toEqual(histories.map(({ calls }) => calls).toSorted());
});
/** A pool that does not record changes for billing. */
type UnrecordingPool = { readonly pool: pg.Pool; readonly forgotten: () => number };

/**
 * Omits only what `ledger/requests` records: reopened requests (`recordReopenedRequests`), and outcomes that move
 * to a further attempt (`moveOutcomesToLastAttempt`).
 */
function withoutBillingChanges(pool: pg.Pool): UnrecordingPool {
  let forgotten = 0;
  const forget = (statement: unknown): unknown => {
    if (typeof statement === 'string') {
      const without = statement.replaceAll(
        /INSERT INTO billing_reopened_requests \(run_id, request\)\s+(?=SELECT)/g,
        '',
      );
      if (without !== statement) forgotten++;
      return without;
    }
    if (!isNamed(statement) || statement.name !== 'move-billed-outcomes') return statement;
    forgotten++;
    return 'SELECT';
  };
  const watch = <Session extends object>(session: Session): Session =>
    new Proxy(session, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        if (key === 'connect') return async () => watch<object>(await value.call(target));
        if (key !== 'query') return value.bind(target);
        return (statement: unknown, ...values: unknown[]) => value.call(target, forget(statement), ...values);
      },
    });
  return { pool: watch(pool), forgotten: () => forgotten };
}

function isNamed(statement: unknown): statement is { readonly name: string } {
  return typeof statement === 'object' && statement !== null && 'name' in statement;
}
