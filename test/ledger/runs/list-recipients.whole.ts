import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recipientStates } from '../../../src/domain/runs.ts';
import { bookPending } from '../../../src/ledger/billing/book.ts';
import { listDeliveryResults, listFailureGroups } from '../../../src/ledger/counts/groups.ts';
import { readRunCounts, recipientStateOf } from '../../../src/ledger/counts/run-counts.ts';
import type { ListedRecipient, RecipientsOfRun } from '../../../src/ledger/runs/list-recipients.ts';
import { type BillingStep, beginnings, steps } from '../../support/billing-steps.ts';
import { createWorld, performNextStep } from '../../support/billing-world.ts';
import { examples } from '../../support/examples.ts';
import { foldAll } from '../../support/fold-outcomes.ts';
import { readRecipients } from '../../support/read-recipients.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();
const readAll = (wanted: RecipientsOfRun, limit?: number): Promise<ListedRecipient[]> =>
  readRecipients(opened.ledger.pool, wanted, limit);

/** Each list has as many recipients as its figure says, each once, and each recipient is in one of them. */
async function expectListed(run: string): Promise<void> {
  const { pool } = opened.ledger;
  const counts = (await readRunCounts(pool, [run])).get(run)?.recipients;
  const places = ({ request, position }: ListedRecipient): string => `${request}-${position}`;
  const all = await readAll({ run, states: recipientStates }, 3);
  expect([all.length, new Set(all.map(places)).size]).toEqual([counts?.total, counts?.total]);
  for (const state of recipientStates) {
    const listed = await readAll({ run, states: [state] });
    expect([state, listed.length]).toEqual([state, counts?.[state]]);
    expect(listed).toEqual(all.filter((each) => each.state === state));
  }
  const waiting = await readAll({ run, states: ['pending', 'accepted'] });
  expect(waiting.length).toBe((counts?.pending ?? 0) + (counts?.accepted ?? 0));
  const known = ({ group }: { readonly group: string }): boolean => group !== '';
  for (const { outcome, group, recipients } of (await listDeliveryResults(pool, run)).filter(known))
    expect(await readAll({ run, states: [outcome], group })).toHaveLength(recipients);
  for (const { state, group, recipients } of (await listFailureGroups(pool, run)).filter(known))
    expect(await readAll({ run, states: [recipientStateOf[state]], group })).toHaveLength(recipients);
}

/** A request that the service rejected, and reports as delivered, beside one without a report. */
const reportedAndRejected: [string, BillingStep[]] = [
  '2026-09-26T11:40:00Z',
  [
    { kind: 'plan', channel: 'sms', payers: [{}], contacts: 3, chunkSize: 1, rates: null },
    { kind: 'send', run: 0, requests: 2, ends: ['accepted', 'divided'] },
    { kind: 'report', reports: [{ recipient: 0, outcome: 'delivered', price: null, units: null }] },
    { kind: 'report', reports: [{ recipient: 7, outcome: 'delivered', price: null, units: null }] },
    { kind: 'send', run: 0, requests: 1, ends: ['accepted'] },
  ],
];

test('after any history, each list of recipients has as many as its figure says, folded, booked or not', async () => {
  const property = fc.asyncProperty(beginnings, steps, async (begin, history) => {
    const world = await createWorld(opened.ledger, begin);
    for (const step of history) {
      await performNextStep(world, step);
      if (step.kind === 'book') while (await bookPending(opened.ledger.pool));
    }
    for (const run of world.runs) await expectListed(run);
    while (await bookPending(opened.ledger.pool));
    await foldAll(opened.ledger.pool);
    for (const run of world.runs) await expectListed(run);
  });
  await fc.assert(property, { ...examples(12), examples: [reportedAndRejected] });
});
