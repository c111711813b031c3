import { z } from 'zod';
import { storedApproval } from '../../campaign/approval.ts';
import { checkBudget } from '../../campaign/budget.ts';
import { estimateCost } from '../../campaign/cost.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { duplicatePolicies } from '../../domain/contacts.ts';
import { InputError } from '../../domain/problems.ts';
import type { RecipientState } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { copyNotifyList } from '../../ledger/notifications/notify-lists.ts';
import { expandRun } from '../../ledger/planning/expand.ts';
import { restageRecipients } from '../../ledger/planning/restage-recipients.ts';
import { listContactFiles } from '../../ledger/runs/contact-files.ts';
import { lockRunForRerun } from '../../ledger/runs/rerun-lock.ts';
import { inSession } from '../../ledger/session.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { windowOf } from '../dispatch/dispatch-settings.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { enqueueAndStart } from '../runs/begin-run.ts';
import { requireUnpurgedRun } from '../runs/find-run.ts';
import { newRunId } from '../runs/run-id.ts';
import { createApprovalGate } from './approval-gate.ts';
import { firstSlices } from './plan-run.ts';

/** Recipients in these states were not reached and will not be. */
export const rerunStates = [
  'failed',
  'rejected',
  'unknown',
  'undelivered',
  'cancelled',
] as const satisfies readonly RecipientState[];
export type RerunState = (typeof rerunStates)[number];

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

/**
 * Plans a run for the recipients of an earlier run in these states, with the same messages and new MessageIDs. Later
 * suppressions apply. Recipients of another rerun are excluded.
 *
 * @param account of the run; today's rates apply, and the budget is checked against them
 * @throws InputError when the run does not exist, is being dispatched, has no such recipients, or would exceed its
 *   budget
 */
export async function planRerun(
  context: EngineContext,
  sourceRun: string,
  states: readonly RerunState[],
  account: Account,
): Promise<string> {
  const { ledger } = context;
  await requireUnpurgedRun(context, sourceRun);
  // Otherwise two concurrent reruns could send to the same recipients, and states could change during the copy.
  const lock = await lockRunForRerun(ledger.pool, sourceRun);
  if (!lock) {
    const what = 'A process is sending this run or planning a rerun of it. Wait for it, or stop it first.';
    throw new InputError([{ where: `run ${sourceRun}`, what }]);
  }
  try {
    const source = await requireUnpurgedRun(context, sourceRun);
    const now = context.now();
    const run = newRunId(now, context.randomBytes(5));
    const { dispatch, budget, approval, contacts } = frozenDefinition.parse(source.definition);
    const frozen = {
      value: { budget, channel: source.channel },
      locate: (path: readonly PropertyKey[]) => `run ${sourceRun}, ${path.join('.')}`,
    };
    const recipientColumn = 'Recipient';
    const first = await firstSlices(context, run, account, source.definition);
    const { name: plannedBy, via: plannedHow } = context.actor;
    const files = { folder: null, campaignFile: null, campaignSha256: null };
    const asked = { run, plannedBy, plannedHow, ...files };
    const told = { campaign: source.campaign, of: sourceRun, only: states };
    const note = auditEntry(context, { action: 'run planned', run, details: told });
    const gate = createApprovalGate(approval, asked, enqueueAndStart(context, run, first.enqueue));
    await inSession(ledger.pool, async (client) => {
      const tariffs = createTariffs(source.channel, account);
      await restageRecipients(client, { run: sourceRun, states }, recipientColumn, tariffs.tariffIndexOf);
      const rates = tariffs.rates();
      await expandRun(
        client,
        {
          run,
          campaign: source.campaign,
          account: source.account,
          suppressionAccount: account.suppressionsOf,
          channel: source.channel,
          definition: source.definition,
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
          window: windowPlanner(windowOf(source.definition), account.interface, now),
          ...first,
          enqueue: async (session) => {
            await note(session);
            await copyNotifyList(session, sourceRun, run);
            await gate.enqueue(session);
          },
          checkPlan: (totals) => {
            if (totals.length > 0) {
              const estimate = estimateCost(totals, source.channel, rates, now);
              checkBudget(frozen, estimate);
              gate.assess(totals, estimate);
              return;
            }
            const what = `No recipient is ${states.join(' or ')}, and neither suppressed nor sent to again already; \`volley status ${sourceRun}\` shows the states.`;
            throw new InputError([{ where: `run ${sourceRun}`, what }]);
          },
          createdAt: now,
        },
        ledger.hashKey,
      );
    });
    return run;
  } finally {
    await lock.release();
  }
}
