import type { Finding } from '../../domain/doctor.ts';
import { nextStep } from '../../domain/next-step.ts';
import { formatReason } from '../../domain/reasons.ts';
import { isLeftToPerson } from '../../domain/waits.ts';
import { isStoppedByCanary } from '../../domain/watch-reasons.ts';
import { findWrongCounts, listNewestRuns } from '../../ledger/counts/recount.ts';
import { listRunsInDoubt } from '../../ledger/counts/run-counts.ts';
import { hasNextPartition } from '../../ledger/delivery-reports/partitions.ts';
import { type LedgerFigures, maxInboxLag, readFigures } from '../../ledger/operations/figures.ts';
import { readWorkers, type WorkerFigures } from '../../ledger/operations/workers.ts';
import { listUnfinishedRuns, type UnfinishedRun } from '../../ledger/runs/find.ts';
import { hasCode } from '../../platform/file-error.ts';
import { count } from '../../platform/sentence.ts';
import { readWaits } from '../runs/waits.ts';
import type { Settings } from '../settings.ts';
import { formatAge, listFirst, ok, type Pool, type PoolProbe, problem, warning } from './check.ts';
import { checkMissingReports, checkUnsentReports } from './delivery-reports.ts';

/** Workers, runs, and what they leave to persons. */
export function workProbes(settings: Settings, now: () => Date): PoolProbe[] {
  let reading: Promise<LedgerFigures> | undefined;
  const figuresOf = (pool: Pool): Promise<LedgerFigures> => {
    reading ??= readFigures(pool, now());
    return reading;
  };
  return [
    {
      name: 'workers',
      ask: async (pool) => {
        const { ready } = await unfinishedRuns(pool);
        const unfinished = ready.map(({ run }) => run);
        const waits = await readWaits(pool, unfinished, now());
        const unattended = unfinished.filter((run) => waits.get(run)?.some(({ kind }) => kind === 'worker'));
        return checkWorkers(await readWorkers(pool), unfinished, unattended);
      },
    },
    { name: 'runs', ask: async (pool) => checkWaitingRuns((await unfinishedRuns(pool)).waiting, now()) },
    { name: 'counts', ask: (pool) => checkCounts(pool, now) },
    {
      name: 'requests in doubt',
      ask: async (pool) => {
        const { recipientsInDoubt } = await figuresOf(pool);
        return checkDoubts(recipientsInDoubt, recipientsInDoubt > 0 ? await listRunsInDoubt(pool, 3) : []);
      },
    },
    { name: 'refusals', ask: async (pool) => checkBreakers(await figuresOf(pool)) },
    { name: 'delivery reports', ask: (pool) => checkMissingReports(pool, settings, now()) },
    { name: 'unsent requests', ask: (pool) => checkUnsentReports(pool, now()) },
    { name: 'inbox', ask: async (pool) => checkInbox(await figuresOf(pool)) },
    { name: 'partitions', ask: async (pool) => checkPartitions(await hasNextPartition(pool)) },
    { name: 'notifications', ask: async (pool) => checkNotifications(await figuresOf(pool)) },
  ];
}

/** Runs that only need a worker, and those that wait for a person. */
async function unfinishedRuns(pool: Pool): Promise<Record<'ready' | 'waiting', readonly UnfinishedRun[]>> {
  const runs = await listUnfinishedRuns(pool);
  return { ready: runs.filter((run) => !isLeftToPerson(run)), waiting: runs.filter(isLeftToPerson) };
}

const startWorker =
  'Start `volley serve` or `volley worker` and keep it running, for example by systemd, or run `volley resume --all`.';

/**
 * @param unfinished runs that only need a worker
 * @param unattended those of them that no worker sends
 */
export function checkWorkers(
  { workers, heldSlices, abandonedSlices }: WorkerFigures,
  unfinished: readonly string[],
  unattended: readonly string[],
): Finding {
  const held =
    heldSlices === 0 ? '' : `, with ${count(heldSlices, 'slice')} of ${count(unfinished.length, 'run')}`;
  if (workers > 0 && unattended.length > 0)
    return warning(
      `${count(workers, 'worker')} ${workers === 1 ? 'runs' : 'run'}, and none takes ${count(unattended.length, 'run')}: ${listFirst(unattended)}.`,
      'Start a worker that has the account of the run in its accounts file.',
    );
  if (workers > 0 && abandonedSlices === 0)
    return ok(`${count(workers, 'worker')} ${workers === 1 ? 'runs' : 'run'}${held}.`);
  if (workers > 0)
    return warning(
      `${count(workers, 'worker')} ${workers === 1 ? 'runs' : 'run'}, and ${count(abandonedSlices, 'slice')} of ended workers wait to be reclaimed, which takes a few seconds.`,
      nextStep`Wait, then see ${{ kind: 'check health' }} again. If they stay, see the logs of the workers.`,
    );
  if (unfinished.length === 0) return ok('No worker runs, and no run needs one.');
  return problem(
    `No worker runs, and ${count(unfinished.length, 'run')} ${unfinished.length === 1 ? 'is' : 'are'} unfinished: ${listFirst(unfinished)}.`,
    startWorker,
  );
}

export function checkWaitingRuns(
  runs: readonly Pick<UnfinishedRun, 'run' | 'state' | 'stateReason' | 'createdAt'>[],
  now: Date,
): Finding {
  const [first] = runs;
  if (first === undefined) return ok('No run waits for a person.');
  const [run, reason, age] = [
    first.run,
    first.stateReason,
    formatAge(now.getTime() - first.createdAt.getTime()),
  ];
  const why =
    first.state === 'planned' ? 'not approved yet' : `paused: ${reason ? formatReason(reason) : 'no reason'}`;
  const more = runs.length - 1;
  const others = more > 0 ? ` ${count(more, 'other run')} ${more === 1 ? 'does' : 'do'} too.` : '';
  const next =
    first.state === 'planned'
      ? nextStep`${{ kind: 'approve', run }}`
      : isStoppedByCanary(reason)
        ? nextStep`${{ kind: 'promote', run }} to send the rest`
        : nextStep`${{ kind: 'resume', run }} when it may go on`;
  return warning(
    `Run ${run}, planned ${age} ago, waits for a person (${why.replace(/\.$/, '')}).${others}`,
    nextStep`See ${{ kind: 'status', run }}, then ${next}, or ${{ kind: 'cancel', run }}.`,
  );
}

/** @param recipients of requests in doubt @param runs the newest of their runs */
export function checkDoubts(recipients: number, runs: readonly string[]): Finding {
  if (recipients === 0) return ok('No request is in doubt.');
  return warning(
    `${count(recipients, 'recipient')} ${recipients === 1 ? 'is' : 'are'} in requests that the service may or may not have accepted.`,
    nextStep`Ask the service, or decide from what you know${runs.flatMap((run, index) => nextStep`${index === 0 ? ': ' : ', '}${{ kind: 'resolve', run }}`)}.`,
  );
}

export function checkBreakers({ openBreakers }: Pick<LedgerFigures, 'openBreakers'>): Finding {
  if (openBreakers.length === 0) return ok('No service refuses every request.');
  const each = openBreakers.map(
    ({ account, seconds }) => `account ${account} for ${formatAge(seconds * 1_000)}`,
  );
  return problem(
    `The service refuses every request: ${listFirst(each)}.`,
    nextStep`Ask the operator of the service, whose words are in ${{ kind: 'read refusals' }}. Volley goes on when it accepts again.`,
  );
}

export function checkInbox({
  inbox,
  undecided: { unreadable, unmatched },
}: Pick<LedgerFigures, 'inbox' | 'undecided'>): Finding {
  const { due, failed, lag, later } = inbox;
  if (lag > maxInboxLag)
    return problem(
      `${count(due, 'delivery report')} wait to be applied, the first for ${formatAge(lag * 1_000)}: no process applies them, or none can.`,
      'Start `volley serve`. If it runs, see its log.',
    );
  if (failed > 0)
    return warning(
      `${count(failed, 'delivery report')} could not be applied.`,
      nextStep`See ${{ kind: 'list reports', state: 'failed' }}, then ${{ kind: 'replay reports' }}.`,
    );
  if (unreadable > 0)
    return warning(
      `${count(unreadable, 'call')} of the last 30 days could not be read as a delivery report, and ${unreadable === 1 ? 'was' : 'were'} answered 200.`,
      nextStep`See why: ${{ kind: 'list reports', state: 'unreadable' }}. Tell Volley the form in \`receiver\` of the account, then ${{ kind: 'replay reports' }}.`,
    );
  if (unmatched > later)
    return ok(
      `Every delivery report that arrived is applied, except ${unmatched.toLocaleString('en')} of the last 30 days that match no request.`,
      nextStep`See ${{ kind: 'list reports', state: 'unmatched' }}.`,
    );
  return ok(
    later === 0
      ? 'Every delivery report that arrived is applied.'
      : `Every delivery report that arrived is applied, except ${later.toLocaleString('en')} that match no request yet.`,
  );
}

/** Without one, calls go on in the partition of this week, and are deleted later than they could be. */
export function checkPartitions(hasNext: boolean): Finding {
  return hasNext
    ? ok('The inbox has a partition for the delivery reports of next week.')
    : warning(
        'The inbox has no partition for the delivery reports of next week, so they go on in the present one.',
        'Start `volley serve` and keep it running. If it runs, see its log.',
      );
}

export function checkNotifications({ notifications }: Pick<LedgerFigures, 'notifications'>): Finding {
  const { overdue, givenUp } = notifications;
  if (overdue > 0)
    return warning(
      `${count(overdue, 'notification')} ${overdue === 1 ? 'is' : 'are'} overdue for more than five minutes.`,
      startWorker,
    );
  return ok(givenUp === 0 ? 'None is overdue.' : `None is overdue. Given up, of all time: ${givenUp}.`);
}

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
