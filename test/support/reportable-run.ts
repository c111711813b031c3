import type { EngineContext } from '../../src/engine/context.ts';
import { reportRun } from '../../src/engine/reporting/run-report.ts';
import { markCompleted, markPaused, markResumed } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { type RunDetails, toRunDetails } from '../../src/report/run-details.ts';
import { createWorld, performStep } from './billing-world.ts';
import { createRequestRows } from './request-rows.ts';

/** The report of a run, as `volley report run` has it. */
export function detailsOf(context: EngineContext, run: string, timeZone = 'UTC'): Promise<RunDetails> {
  return reportRun(context, run, timeZone, (report) => toRunDetails(report, timeZone));
}

const rateCard = {
  currency: 'NZD',
  tariffs: [[{ price: '0.08', tax: '0.15', from: null, until: null }]],
} as const;

/** Early in the morning of the day on which daylight saving begins in Auckland, an hour before it does. */
export const reportedAt = '2026-09-26T13:00:00Z';

/**
 * A run of four requests with two recipients each, in an empty ledger, which was paused in the middle: accepted; accepted;
 * rejected a minute later; accepted at the second attempt, two minutes later. Attempts last 10 ms by request and attempt:
 * 110 ms for the first of request 1. Who is in request 1 was delivered; one of them had a second report that said otherwise.
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
  // As if the ledger's clock were ours.
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
