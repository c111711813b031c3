import { InputError } from '../../domain/problems.ts';
import type { RunState } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { findApproval } from '../../ledger/approvals/approvals.ts';
import type { Alongside } from '../../ledger/connection.ts';
import type { PlannedRun } from '../../ledger/contacts/planned-run.ts';
import { beginRun } from '../../ledger/runs/begin.ts';
import { reapDeadWorkers } from '../../ledger/slices/reap.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import { audited, noteOf } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { noSuchRun, requireRun } from '../find-run.ts';
import { dispatchSettings } from './dispatch-settings.ts';

/** A run that is put into the queue by its plan is started by that: from then on any worker takes it. */
export function startingWith(
  context: EngineContext,
  run: string,
  enqueue: PlannedRun['enqueue'],
): PlannedRun['enqueue'] {
  return async (client) => {
    await enqueue(client);
    await noteOf(context, { action: 'run started', run })(client);
  };
}

/** Tells who has a run sent that its plan did not start. Who only helps to send one that is running is not told. */
export function noteBegun(
  context: EngineContext,
  run: string,
): (client: Parameters<Alongside>[0], before: RunState) => Promise<void> {
  return async (client, before) => {
    if (before === 'running') return;
    if (before === 'planned' && !(await findApproval(client, run))) return;
    const action = before === 'paused' ? 'run resumed' : 'run started';
    await noteOf(context, { action, run })(client);
  };
}

/** Has somebody's wish to have a run sent told where it is refused; where it is not, `noteBegun` tells. */
export function toldIfRefused<Result>(
  context: EngineContext,
  { run, state }: { readonly run: string; readonly state: RunState },
  work: () => Promise<Result>,
): Promise<Result> {
  return audited(context, { action: state === 'planned' ? 'run started' : 'run resumed', run }, work);
}

/** @throws InputError for what a run was, when it could not be begun then */
export function requireBegun(run: string, before: Awaited<ReturnType<typeof beginRun>>): void {
  if (before === undefined) noSuchRun(run);
  const refuse = (what: string): never => {
    throw new InputError([{ where: `run ${run}`, what }]);
  };
  if (before === 'unapproved') refuse(`The run waits for approval; \`volley approve ${run}\` gives it.`);
  if (before !== 'planned' && before !== 'paused' && before !== 'running')
    refuse(`The run is ${before}; there is nothing left to send.`);
}

/**
 * Has a planned, paused or interrupted run sent by whatever workers there are, and does not wait for it.
 *
 * @param accountNamed throws InputError for an account that this process does not have
 * @throws InputError when there is no such run, it is over, it waits for approval, its account is not here, or suppressions
 *   are hashed and their key is not
 */
export async function leaveToWorkers(
  context: EngineContext,
  runId: string,
  accountNamed: (name: string) => Promise<Account>,
): Promise<void> {
  const { ledger, now } = context;
  const run = await requireRun(context, runId);
  await toldIfRefused(context, run, async () => {
    await requireHashKey(ledger.pool, ledger.hashKey);
    const { plan, policy } = dispatchSettings(runId, await accountNamed(run.account), run.definition);
    const queue = await ledger.queue();
    // What a dead process left in the middle of sending is in doubt before anything else of it is sent.
    await reapDeadWorkers(queue, ledger.pool, null, now);
    requireBegun(runId, await beginRun(queue, ledger.pool, plan, policy, now(), noteBegun(context, runId)));
  });
}
