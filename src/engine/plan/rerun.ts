import { z } from 'zod';
import { storedApproval } from '../../campaign/approval.ts';
import { checkBudget } from '../../campaign/budget.ts';
import type { CostEstimate } from '../../campaign/cost.ts';
import { duplicatePolicies } from '../../domain/contacts.ts';
import { InputError } from '../../domain/problems.ts';
import type { RerunState } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { copyNotifyList } from '../../ledger/notifications/insert.ts';
import { restageRecipients } from '../../ledger/planning/restage-recipients.ts';
import { listContactFiles } from '../../ledger/runs/contact-files.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { lockRunForRerun } from '../../ledger/runs/made-once.ts';
import type { EngineContext } from '../context.ts';
import { windowOf } from '../dispatch/dispatch-settings.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { requireUnpurgedRun } from '../runs/find-run.ts';
import { type AlongsideRun, makeRun } from './make-run.ts';
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

export type Rerun = {
  /** The run whose recipients get their messages again. */
  readonly of: string;
  readonly states: readonly RerunState[];
  /** The account of the run; today's rates and the budget apply. */
  readonly account: Account;
  /** The audit trail has it. */
  readonly reason?: string;
  readonly alongside?: AlongsideRun;
};

/**
 * Plans a run with the same messages and new MessageIDs for recipients in these states. Later suppressions apply.
 * Recipients of another rerun are excluded.
 *
 * @throws InputError when the run does not exist, is being dispatched, has no such recipients, or would exceed its
 *   budget
 */
export async function planRerun(context: EngineContext, rerun: Rerun): Promise<string> {
  const { ledger } = context;
  const { of: sourceRun } = rerun;
  const { kind } = await requireUnpurgedRun(context, sourceRun);
  if (kind === 'test') throw new InputError([{ where: `run ${sourceRun}`, what: testOriginText(sourceRun) }]);
  // Otherwise two concurrent reruns could send to the same recipients, and states could change during the copy.
  const lock = await lockRunForRerun(ledger.pool, sourceRun);
  if (!lock) {
    const what = 'A process is sending this run or planning a rerun of it. Wait for it, or stop it first.';
    throw new InputError([{ where: `run ${sourceRun}`, what }]);
  }
  try {
    return await expandRerun(context, await requireUnpurgedRun(context, sourceRun), rerun);
  } finally {
    await lock.release();
  }
}

async function expandRerun(
  context: EngineContext,
  source: Run,
  { states, account, reason, alongside }: Rerun,
): Promise<string> {
  const { run: sourceRun, campaign, channel, definition } = source;
  const { dispatch, approval, contacts } = frozenDefinition.parse(definition);
  const recipientColumn = 'Recipient';
  return makeRun(context, {
    campaign,
    channel,
    definition,
    account,
    approval: { rule: approval, folder: null, campaignFile: null, campaignSha256: null },
    alongside,
    stage: async (client, { run, now, tariffs }) => {
      await restageRecipients(client, { run: sourceRun, states }, recipientColumn, tariffs.tariffIndexOf);
      return {
        chunkSize: dispatch.chunkSize,
        recipientColumn,
        identity: contacts,
        frequencyCap: undefined,
        contactFiles: await listContactFiles(client, sourceRun),
        sourceRun,
        origins: [],
        files: { kind: 'run', run: sourceRun },
        window: windowPlanner(windowOf(definition), account.interface, now),
        details: { campaign, of: sourceRun, only: states, ...(reason && { reason }) },
        recordTargets: (session) => copyNotifyList(session, sourceRun, run),
        check: async (_, { recipients }, cost) => checkCost(source, states, recipients, cost),
      };
    },
  });
}

function checkCost(
  { run, channel, definition }: Run,
  states: readonly RerunState[],
  recipients: number,
  cost: CostEstimate,
): void {
  const where = `run ${run}`;
  if (recipients === 0) {
    const what = `No recipient is ${states.join(' or ')}, except suppressed ones and those of other reruns. \`volley status ${run}\` shows the states.`;
    throw new InputError([{ where, what }]);
  }
  const { budget } = frozenDefinition.parse(definition);
  const locate = (path: readonly PropertyKey[]): string => `${where}, ${path.join('.')}`;
  checkBudget({ value: { budget, channel }, locate }, cost);
}
