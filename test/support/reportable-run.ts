import type { EngineContext } from '../../src/engine/context.ts';
import { readRunReport } from '../../src/engine/reporting/read-run-report.ts';
import { markCompleted, markPaused, markResumed } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { type RunDetails, toRunDetails } from '../../src/report/run/run-details.ts';
import { createWorld, performStep } from './billing-world.ts';
import { createRequestRows } from './request-rows.ts';

/** As in `volley report run`. */
export async function detailsOf(context: EngineContext, run: string, timeZone = 'UTC'): Promise<RunDetails> {
  const { asOf: _, ...report } = await readRunReport(context, run, timeZone);
  return toRunDetails(report, timeZone);
}

const rateCard = {
  currency: 'NZD',
  tariffs: [[{ price: '0.08', tax: '0.15', from: null, until: null }]],
} as const;

/** The day on which daylight saving begins in Auckland, one hour before the change. */
export const reportedAt = '2026-09-26T13:00:00Z';

/**
 * Plans four requests with two recipients each, in an empty ledger, with a pause in between. Two are accepted,
 * one is rejected a minute later, and one is accepted in its second attempt two minutes later. Attempts last
 * `request × 10 + attempt × 100` ms. The recipients of request 1 were delivered; for one of them a second
 * delivery report disagrees.
 */
export async function planReportableRun({ ledger }: EngineContext): Promise<string> {
  const { pool } = ledger;
  const world = await createWorld(ledger, reportedAt);
  const payers = [{ SubAccount: 'North', ChargeCode: 'A-1' }, {}];
  await performStep(world, {
    kind: 'plan',
    channel: 'sms',
    payers,
    contacts: 8,
    chunkSize: 2,
    rates: rateCard,
  });
  const [run = ''] = world.runs;

  await performStep(world, { kind: 'send', run: 0, requests: 2, ends: ['accepted', 'accepted'] });
  await performStep(world, { kind: 'wait', minutes: 1 });
  await performStep(world, { kind: 'send', run: 0, requests: 2, ends: ['rejected', 'in_doubt'] });
  await inTransaction(pool, (client) => markPaused(client, run, 'the credential was refused'));
  await inTransaction(pool, (client) => markResumed(client, run));
  await performStep(world, { kind: 'resolve', run: 0, resolution: 'resend' });
  await performStep(world, { kind: 'wait', minutes: 1 });
  await performStep(world, { kind: 'send', run: 0, requests: 1, ends: ['accepted'] });
  const report = { recipient: 0, units: '1', price: '0.1' } as const;
  await performStep(world, {
    kind: 'report',
    reports: [
      { ...report, outcome: 'delivered' },
      { ...report, recipient: 1, outcome: 'delivered' },
      { ...report, outcome: 'undelivered' },
    ],
  });
  await createRequestRows(pool, run);
  await pool.query(
    `UPDATE attempts SET http_status = 200, finished_at = started_at + (request * 10 + attempt * 100) * interval '1 ms'`,
  );
  await inTransaction(pool, (client) => markCompleted(client, run, world.now));
  // Aligns the ledger's clock with ours.
  await pool.query(
    `UPDATE run_states SET changed_at = CAST($1 AS timestamptz) + change_time
     FROM (SELECT change, (ARRAY['0s', '0s', '90s', '100s', '2min']::interval[])[row_number() OVER (ORDER BY change)]
                  AS change_time
           FROM run_states) AS times
     WHERE times.change = run_states.change`,
    [reportedAt],
  );
  return run;
}
