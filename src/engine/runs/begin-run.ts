import { InputError } from '../../domain/problems.ts';
import { hasEnded, type RunState } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { findApproval } from '../../ledger/approvals/approvals.ts';
import { type BeginOptions, beginRun } from '../../ledger/runs/begin.ts';
import type { Run } from '../../ledger/runs/find.ts';
import type { Transaction } from '../../ledger/session.ts';
import { reclaimSlicesOfEndedWorkers } from '../../ledger/slices/reclaim.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import { auditEntry, audited } from '../audit.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { dispatchSettings } from '../dispatch/dispatch-settings.ts';
import { requireSendableLedger } from '../dispatch/ledger-location.ts';
import { noSuchRun, requireRun } from './find-run.ts';

/**
 * Begins or resumes a run for every process that may send it. Requests that an ended process was sending become in
 * doubt first.
 *
 * @returns as `beginRun`
 * @throws InputError when the key of hashed suppressions is missing here, or the ledger is on hold
 */
export async function beginSending(
  context: EngineContext,
  run: Run,
  account: Account,
  options: Pick<BeginOptions, 'includePaused' | 'check' | 'alongside'>,
): ReturnType<typeof beginRun> {
  const { ledger, now } = context;
  await requireHashKey(ledger.pool, ledger.hashKey);
  await requireSendableLedger(context);
  const { plan, policy } = dispatchSettings(run.run, account, run.definition);
  const queue = await ledger.queue();
  await reclaimSlicesOfEndedWorkers(queue, ledger.pool, null, now);
  return beginRun(queue, ledger.pool, { plan, policy, now: now(), ...options });
}

/**
 * A run that an operator has paused stays paused.
 *
 * @returns false when its account is configured only in other processes
 */
export async function beginPlannedRun(
  context: EngineContext,
  runId: string,
  accountNamed: AccountNamed,
  alongside?: BeginOptions['alongside'],
): Promise<boolean> {
  const run = await requireRun(context, runId);
  const account = await accountNamed(run.account).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
  });
  if (!account) return false;
  await beginSending(context, run, account, { includePaused: false, ...(alongside && { alongside }) });
  return true;
}

/** Audits the start of a run that its plan did not start. Processes that join a running one are not audited. */
export function auditStart(
  context: EngineContext,
  run: string,
  reason?: string,
): (client: Transaction, before: RunState) => Promise<void> {
  return async (client, before) => {
    if (before === 'running') return;
    if (before === 'planned' && !(await findApproval(client, run))) return;
    const action = before === 'paused' ? 'run resumed' : 'run started';
    await auditEntry(context, { action, run, ...(reason && { details: { reason } }) })(client);
  };
}

/** `auditStart` audits successful starts. */
export function auditRefusedStart<Result>(
  context: EngineContext,
  { run, state }: { readonly run: string; readonly state: RunState },
  work: () => Promise<Result>,
): Promise<Result> {
  return audited(context, { action: state === 'planned' ? 'run started' : 'run resumed', run }, work);
}

/**
 * @param before the run's former state
 * @throws InputError when the run is missing or waits for approval
 */
export function requireApproved(
  run: string,
  before: Awaited<ReturnType<typeof beginRun>>,
): asserts before is RunState {
  if (before === undefined) noSuchRun(run);
  if (before !== 'unapproved') return;
  const what = `The run waits for approval; \`volley approve ${run}\` approves it.`;
  throw new InputError([{ where: `run ${run}`, what }]);
}

/**
 * A repeated request starts a run whose process ended between plan and start. A run that waits for approval stays.
 *
 * @returns whether it waits for approval
 */
export async function startUnlessWaiting(
  context: EngineContext,
  runId: string,
  accountNamed: AccountNamed,
): Promise<boolean> {
  const run = await requireRun(context, runId);
  const approval = await findApproval(context.ledger.pool, runId);
  if (run.state !== 'planned') return false;
  if (approval && approval.approvedAt === null) return true;
  await auditRefusedStart(context, run, () =>
    beginByWorkers(context, run, accountNamed, { includePaused: false }),
  );
  return false;
}

/** @returns the run's former state */
async function beginByWorkers(
  context: EngineContext,
  run: Run,
  accountNamed: AccountNamed,
  { includePaused, reason }: { readonly includePaused: boolean; readonly reason?: string | undefined },
): Promise<RunState> {
  const account = await accountNamed(run.account);
  const alongside = auditStart(context, run.run, reason);
  const before = await beginSending(context, run, account, { includePaused, alongside });
  requireApproved(run.run, before);
  return before;
}

/**
 * @returns the run's former state; `running` when another caller was first
 * @throws InputError when the run is missing, over or waits for approval, or its account or the key of hashed
 *   suppressions is missing here
 */
export async function resumeByWorkers(
  context: EngineContext,
  runId: string,
  accountNamed: AccountNamed,
  reason?: string,
): Promise<RunState> {
  const run = await requireRun(context, runId);
  return auditRefusedStart(context, run, async () => {
    const before = await beginByWorkers(context, run, accountNamed, { includePaused: true, reason });
    if (!hasEnded(before)) return before;
    throw new InputError([{ where: `run ${runId}`, what: nothingLeftText(before) }]);
  });
}

export function nothingLeftText(state: RunState): string {
  return `The run is ${state}; there is nothing left to send.`;
}
