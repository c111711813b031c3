import { z } from 'zod';
import { storedApproval } from '../../campaign/approval.ts';
import { checkBudget } from '../../campaign/budget.ts';
import { type CostEstimate, estimateCost } from '../../campaign/cost.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { duplicatePolicies } from '../../domain/contacts.ts';
import { InputError } from '../../domain/problems.ts';
import type { RerunState } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { copyNotifyList } from '../../ledger/notifications/notify-lists.ts';
import { expandRun } from '../../ledger/planning/expand.ts';
import type { BillingTotal, PlannedRun } from '../../ledger/planning/planned-run.ts';
import { restageRecipients } from '../../ledger/planning/restage-recipients.ts';
import { listContactFiles } from '../../ledger/runs/contact-files.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { lockRunForRerun } from '../../ledger/runs/rerun-lock.ts';
import { inSession, type Transaction } from '../../ledger/session.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { windowOf } from '../dispatch/dispatch-settings.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { enqueueAndStart } from '../runs/begin-run.ts';
import { requireUnpurgedRun } from '../runs/find-run.ts';
import { newRunId } from '../runs/run-id.ts';
import { createApprovalGate } from './approval-gate.ts';
import { planFirstSlices } from './first-slices.ts';
import { testOriginText } from './origins.ts';

/** The part of the frozen definition that expansion needs. */
const limits = z.record(z.string(), z.string()).optional();
const frozenDefinition = z.object({
  dispatch: z.object({ chunkSize: z.number() }),
  approval: storedApproval,
  // A notification e-mail has none.
  contacts: z
    .object({
      key: z.array(z.string()).default([]),
      duplicates: z.enum(duplicatePolicies).default('merge'),
    })
    .prefault({}),
  budget: z.object({ campaign: z.string().optional(), subAccounts: limits, chargeCodes: limits }).optional(),
});

export type RerunOptions = {
  /** For the audit trail. */
  readonly reason?: string;
  /** In the transaction that plans the run. */
  readonly alongside?: (client: Transaction, run: string) => Promise<void>;
};

/**
 * Plans a run with the same messages and new MessageIDs for recipients in these states. Later suppressions apply.
 * Recipients of another rerun are excluded.
 *
 * @param account of the run; today's rates and the budget apply
 * @throws InputError when the run does not exist, is being dispatched, has no such recipients, or would exceed its
 *   budget
 */
export async function planRerun(
  context: EngineContext,
  sourceRun: string,
  states: readonly RerunState[],
  account: Account,
  options: RerunOptions = {},
): Promise<string> {
  const { ledger } = context;
  const { kind } = await requireUnpurgedRun(context, sourceRun);
  if (kind === 'test') throw new InputError([{ where: `run ${sourceRun}`, what: testOriginText(sourceRun) }]);
  // Otherwise two concurrent reruns could send to the same recipients, and states could change during the copy.
  const lock = await lockRunForRerun(ledger.pool, sourceRun);
  if (!lock) {
    const what = 'A process is sending this run or planning a rerun of it. Wait for it, or stop it first.';
    throw new InputError([{ where: `run ${sourceRun}`, what }]);
  }
  try {
    return await expandRerun(context, await requireUnpurgedRun(context, sourceRun), states, account, options);
  } finally {
    await lock.release();
  }
}

async function expandRerun(
  context: EngineContext,
  source: Run,
  states: readonly RerunState[],
  account: Account,
  { reason, alongside }: RerunOptions,
): Promise<string> {
  const { ledger } = context;
  const { run: sourceRun, campaign, channel, definition } = source;
  const now = context.now();
  const run = newRunId(now, context.randomBytes(5));
  const { dispatch, approval, contacts } = frozenDefinition.parse(definition);
  const first = await planFirstSlices(context, run, account, definition);
  const { name: plannedBy, via: plannedHow, token: plannedToken } = context.actor;
  const request = {
    run,
    plannedBy,
    plannedHow,
    plannedToken,
    folder: null,
    campaignFile: null,
    campaignSha256: null,
  };
  const gate = createApprovalGate(approval, request, enqueueAndStart(context, run, first.enqueue));
  const recipientColumn = 'Recipient';
  await inSession(ledger.pool, async (client) => {
    const tariffs = createTariffs(channel, account);
    await restageRecipients(client, { run: sourceRun, states }, recipientColumn, tariffs.tariffIndexOf);
    const rates = tariffs.rates();
    const plan: PlannedRun = {
      run,
      campaign,
      account: source.account,
      suppressionAccount: account.suppressionsOf,
      channel,
      definition,
      messageKey: context.randomBytes(32),
      chunkSize: dispatch.chunkSize,
      recipientColumn,
      identity: contacts,
      frequencyCap: undefined,
      contactFiles: await listContactFiles(client, sourceRun),
      sourceRun,
      origins: [],
      files: { kind: 'run', run: sourceRun },
      rates,
      window: windowPlanner(windowOf(definition), account.interface, now),
      canary: first.canary,
      priority: first.priority,
      enqueue: async (session) => {
        const details = { campaign, of: sourceRun, only: states, ...(reason && { reason }) };
        await auditEntry(context, { action: 'run planned', run, details })(session);
        await copyNotifyList(session, sourceRun, run);
        await alongside?.(session, run);
        await gate.enqueue(session);
      },
      checkPlan: (totals) => gate.assess(totals, checkCost(source, states, totals, rates, now)),
      createdAt: now,
    };
    await expandRun(client, plan, ledger.hashKey);
  });
  return run;
}

function checkCost(
  { run, channel, definition }: Run,
  states: readonly RerunState[],
  totals: readonly BillingTotal[],
  rates: PlannedRun['rates'],
  now: Date,
): CostEstimate {
  const where = `run ${run}`;
  if (totals.length === 0) {
    const what = `No recipient is ${states.join(' or ')}, except suppressed ones and those of other reruns. \`volley status ${run}\` shows the states.`;
    throw new InputError([{ where, what }]);
  }
  const { budget } = frozenDefinition.parse(definition);
  const estimate = estimateCost(totals, channel, rates, now);
  const locate = (path: readonly PropertyKey[]): string => `${where}, ${path.join('.')}`;
  checkBudget({ value: { budget, channel }, locate }, estimate);
  return estimate;
}
