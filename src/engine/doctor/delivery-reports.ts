import type { Finding } from '../../domain/doctor.ts';
import { nextStep } from '../../domain/next-step.ts';
import { InputError } from '../../domain/problems.ts';
import {
  countMissingReports,
  listRunsReportedUnsent,
  type MissingReports,
  type RunReportedUnsent,
} from '../../ledger/operations/delivery-reports.ts';
import { count } from '../../platform/sentence.ts';
import { loadPollableAccounts } from '../delivery-reports/receiver-accounts.ts';
import { loadAccounts } from '../load-definition.ts';
import type { Settings } from '../settings.ts';
import { formatAge, listFirst, ok, type Pool, problem, warning } from './check.ts';

const day = 86_400_000;

/** Most delivery reports arrive within minutes. Those that are older than 30 days hardly come any more. */
const missingAfter = day;
const lookedBack = 30 * day;

export async function checkMissingReports(pool: Pool, settings: Settings, now: Date): Promise<Finding> {
  const ago = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
  const missing = await countMissingReports(pool, ago(lookedBack), ago(missingAfter));
  return describeMissing(missing, await findReceiving(settings), now);
}

export async function checkUnsentReports(pool: Pool, now: Date): Promise<Finding> {
  const since = new Date(now.getTime() - lookedBack);
  return describeUnsent(await listRunsReportedUnsent(pool, null, since, maxUnsentRuns));
}

/** Each run is an accident of its own, so there are few. */
const maxUnsentRuns = 1_000;

function describeUnsent(runs: readonly RunReportedUnsent[]): Finding {
  if (runs.length === 0)
    return ok('No delivery report of the last 30 days is about a request that was never sent.');
  const recipients = runs.reduce((sum, each) => sum + each.recipients, 0);
  return warning(
    `The service reported on ${count(recipients, 'recipient')} of requests that were never sent, and charges for them (run ${listFirst(runs.map(({ run }) => run))}).`,
    nextStep`Another copy of the ledger may have sent them: see docs/how-to/backup.md. As "Reported, not sent" they stand in ${{ kind: 'bill by run' }}.`,
  );
}

/** Accounts with a webhook or the status look-up; undefined if they cannot be read. */
async function findReceiving(settings: Settings): Promise<ReadonlySet<string> | undefined> {
  try {
    const { names, sharing, readReceivers } = await loadAccounts(settings);
    const { accounts } = await loadPollableAccounts(settings, names);
    const receivers = readReceivers(settings.environment);
    return new Set([
      ...receivers.keys(),
      ...accounts.map(({ name }) => name),
      ...sharing.webhooks.map(({ account }) => account),
    ]);
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** @param receiving accounts that get delivery reports; undefined: any may */
export function describeMissing(
  accounts: readonly MissingReports[],
  receiving: ReadonlySet<string> | undefined,
  now: Date,
): Finding {
  const expected = accounts.filter(({ account }) => receiving?.has(account) ?? true);
  const [first] = expected.toSorted((one, other) => one.oldest.getTime() - other.oldest.getTime());
  if (first === undefined) return describeNone(accounts);
  const missing = expected.reduce((sum, each) => sum + each.missing, 0);
  const age = (time: Date): string => formatAge(now.getTime() - time.getTime());
  const whose = listFirst(expected.map(({ account }) => account));
  const found = `${count(missing, 'recipient')} without a final delivery report for a day or longer, the oldest for ${age(first.oldest)} (account ${whose}).`;
  const { lastReport } = first;
  const next = nextStep`See ${{ kind: 'list missing reports' }}; ${{ kind: 'ask about missing reports' }} asks the service, where it has the status look-up.`;
  if (lastReport !== null && lastReport >= first.oldest) return warning(found, next);
  const last = lastReport === null ? 'None has ever arrived.' : `None has arrived for ${age(lastReport)}.`;
  return problem(
    `${found} ${last}`,
    nextStep`See the lines of the receiver below, and the webhook address that the service has. ${next}`,
  );
}

function describeNone(accounts: readonly MissingReports[]): Finding {
  const found = 'No delivery report of the last 30 days is missing for a day or longer.';
  if (accounts.length === 0) return ok(found);
  const names = listFirst(accounts.map(({ account }) => account));
  return ok(`${found} Account ${names} receives none: it has no webhook token and no status look-up.`);
}
