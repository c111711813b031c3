import type { Finding } from '../../domain/doctor.ts';
import { countMissingReports, type MissingReports } from '../../ledger/operations/missing-reports.ts';
import { count, formatAge, ok, type Pool, problem, warning } from './check.ts';

const day = 86_400_000;

/** Most delivery reports arrive within minutes. Those that are older than 30 days hardly come any more. */
const missingAfter = day;
const lookedBack = 30 * day;

export async function checkMissingReports(pool: Pool, now: Date): Promise<Finding> {
  const ago = (milliseconds: number): Date => new Date(now.getTime() - milliseconds);
  return describeMissing(await countMissingReports(pool, ago(lookedBack), ago(missingAfter)), now);
}

export function describeMissing(accounts: readonly MissingReports[], now: Date): Finding {
  const missing = accounts.reduce((sum, each) => sum + each.missing, 0);
  const [first] = accounts.toSorted((one, other) => one.oldest.getTime() - other.oldest.getTime());
  if (first === undefined)
    return ok('No delivery report of the last 30 days is missing for a day or longer.');
  const age = (time: Date): string => formatAge(now.getTime() - time.getTime());
  const whose = accounts.map(({ account }) => account).join(', ');
  const found = `${count(missing, 'recipient')} without a final delivery report for a day or longer, the oldest for ${age(first.oldest)} (account ${whose}).`;
  const { lastReport } = first;
  const nextStep =
    '`volley delivery-reports missing --older-than 1d` lists them; `volley delivery-reports poll` asks the service, where it has the status look-up.';
  if (lastReport !== null && lastReport >= first.oldest) return warning(found, nextStep);
  const last = lastReport === null ? 'None has ever arrived.' : `None has arrived for ${age(lastReport)}.`;
  return problem(
    `${found} ${last}`,
    `See the lines of the receiver below, and the webhook address that the service has. ${nextStep}`,
  );
}
