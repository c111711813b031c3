import { InputError } from '../../domain/problems.ts';
import { hasEnded, type RunState } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { findApproval } from '../../ledger/approvals/approvals.ts';
import type { PlannedRun } from '../../ledger/planning/planned-run.ts';
import { type BeginOptions, beginRun } from '../../ledger/runs/begin.ts';
import type { Run } from '../../ledger/runs/find.ts';
import type { Transaction } from '../../ledger/session.ts';
import { reclaimSlicesOfEndedWorkers } from '../../ledger/slices/reclaim.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import { auditEntry, audited } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { dispatchSettings } from '../dispatch/dispatch-settings.ts';
import { requireSendableLedger } from '../dispatch/ledger-location.ts';
import { noSuchRun, requireRun } from './find-run.ts';

/** A run that is put into the queue by its plan is started by that: from then on any worker takes it. */
export function enqueueAndStart(
  context: EngineContext,
  run: string,
  enqueue: PlannedRun['enqueue'],
): PlannedRun['enqueue'] {
  return async (client) => {
    await enqueue(client);
    await auditEntry(context, { action: 'run started', run })(client);
  };
}

/**
 * Begins a run that nobody waits for. One that is paused by now was paused by an operator, after it was planned: it stays so.
 *
 * @returns false where its account is not here: it is left to other processes
 */
export async function beginPlannedRun(
  context: EngineContext,
  runId: string,
  accountNamed: (name: string) => Promise<Account>,
  alongside?: BeginOptions['alongside'],
): Promise<boolean> {
  const { ledger, now } = context;
  const run = await requireRun(context, runId);
  const account = await accountNamed(run.account).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
  });
  if (!account) return false;
  const { plan, policy } = dispatchSettings(runId, account, run.definition);
  const options = { includePaused: false, ...(alongside && { alongside }) };
  await beginRun(await ledger.queue(), ledger.pool, plan, policy, now(), options);
  return true;
}

/** Tells who has a run sent that its plan did not start. Who only helps to send one that is running is not told. */
export function auditStart(
  context: EngineContext,
  run: string,
): (client: Transaction, before: RunState) => Promise<void> {
  return async (client, before) => {
    if (before === 'running') return;
    if (before === 'planned' && !(await findApproval(client, run))) return;
    const action = before === 'paused' ? 'run resumed' : 'run started';
    await auditEntry(context, { action, run })(client);
  };
}

/** Notes that a run was to be sent where that is refused; where it is not, `auditStart` does. */
export function auditRefusedStart<Result>(
  context: EngineContext,
  { run, state }: { readonly run: string; readonly state: RunState },
  work: () => Promise<Result>,
): Promise<Result> {
  return audited(context, { action: state === 'planned' ? 'run started' : 'run resumed', run }, work);
}

/**
 * @param before what a run was when it was to be begun
 * @throws InputError when there is no such run, or it waits for approval
 */
export function requireApproved(
  run: string,
  before: Awaited<ReturnType<typeof beginRun>>,
): asserts before is RunState {
  if (before === undefined) noSuchRun(run);
  if (before !== 'unapproved') return;
  const what = `The run waits for approval; \`volley approve ${run}\` gives it.`;
  throw new InputError([{ where: `run ${run}`, what }]);
}

/**
 * What others have made of it meanwhile stays: they may have sent all of it, or stopped it.
 *
 * @throws InputError when its account is not here, or suppressions are hashed and their key is not
 */
export async function startByWorkers(
  context: EngineContext,
  runId: string,
  accountNamed: (name: string) => Promise<Account>,
): Promise<void> {
  const run = await requireRun(context, runId);
  await auditRefusedStart(context, run, async () => {
    requireApproved(runId, await begin(context, run, accountNamed, false));
  });
}

/**
 * Does not wait for it.
 *
 * @throws InputError when there is no such run, it is over, it waits for approval, its account is not here, or suppressions are
 * hashed and their key is not
 */
export async function resumeByWorkers(
  context: EngineContext,
  runId: string,
  accountNamed: (name: string) => Promise<Account>,
): Promise<void> {
  const run = await requireRun(context, runId);
  await auditRefusedStart(context, run, async () => {
    const before = await begin(context, run, accountNamed, true);
    requireApproved(runId, before);
    if (!hasEnded(before)) return;
    throw new InputError([{ where: `run ${runId}`, what: nothingLeftText(before) }]);
  });
}

export function nothingLeftText(state: RunState): string {
  return `The run is ${state}; there is nothing left to send.`;
}

async function begin(
  context: EngineContext,
  run: Run,
  accountNamed: (name: string) => Promise<Account>,
  includePaused: boolean,
): ReturnType<typeof beginRun> {
  const { ledger, now } = context;
  await requireHashKey(ledger.pool, ledger.hashKey);
  await requireSendableLedger(context);
  const { plan, policy } = dispatchSettings(run.run, await accountNamed(run.account), run.definition);
  const queue = await ledger.queue();
  // What a dead process left in the middle of sending is in doubt before anything else of it is sent.
  await reclaimSlicesOfEndedWorkers(queue, ledger.pool, null, now);
  const alongside = auditStart(context, run.run);
  return beginRun(queue, ledger.pool, plan, policy, now(), { includePaused, alongside });
}
