import type { Finding } from '../../domain/doctor.ts';
import { findWrongCounts, listNewestRuns } from '../../ledger/counts/recount.ts';
import { hasCode } from '../../platform/file-error.ts';
import { count } from '../../platform/sentence.ts';
import { ok, type Pool, problem } from './check.ts';

const maxRuns = 100;

/** Milliseconds. A million requests are counted in a few seconds. */
const maxTime = 3_000;

/** Counts the newest runs anew, as many as the time allows, and compares what is kept of them. */
export async function checkCounts(pool: Pool, now: () => Date): Promise<Finding> {
  const until = now().getTime() + maxTime;
  let recounted = 0;
  for (const run of await listNewestRuns(pool, maxRuns)) {
    if (now().getTime() > until) break;
    const wrongCounts = await findWrongCounts(pool, run).catch(undefinedIfCanceled);
    if (wrongCounts === undefined) continue;
    recounted++;
    const [wrong] = wrongCounts;
    if (!wrong) continue;
    const { counted, kept, found } = wrong;
    return problem(
      `The counts of run ${run} are wrong: "${counted}" has ${kept[0]} requests and ${kept[1]} recipients, and the ledger has ${found[0]} and ${found[1]}.`,
      'Billing and result files do not use them and are right. Tell the makers of Volley, with a backup of the ledger.',
    );
  }
  if (recounted === 0)
    return ok('No run was counted anew: there is none, or the newest ones are too large for a check.');
  return ok(`${count(recounted, 'new run')} counted anew: the counts are right.`);
}

/** Leaves out a run that takes longer than a check may: one of some million requests. */
function undefinedIfCanceled(error: unknown): undefined {
  if (!hasCode(error, '57014')) throw error;
}
