import type { Finding } from '../../domain/doctor.ts';
import { findWrongCounts, listNewestRuns } from '../../ledger/counts/recount.ts';
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
    const [wrong] = await findWrongCounts(pool, run);
    if (wrong) {
      const { counted, kept, found } = wrong;
      return problem(
        `The counts of run ${run} are wrong: "${counted}" has ${kept[0]} requests and ${kept[1]} recipients, and the ledger has ${found[0]} and ${found[1]}.`,
        'Billing and result files do not use them and are right. Tell the makers of Volley, with a backup of the ledger.',
      );
    }
    recounted++;
    if (now().getTime() > until) break;
  }
  if (recounted === 0) return ok('There is no run to count.');
  return ok(
    recounted === 1
      ? 'The newest run was counted anew: its counts are right.'
      : `The ${count(recounted, 'newest run')} were counted anew: their counts are right.`,
  );
}
