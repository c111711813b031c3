import { z } from 'zod';
import { type Approval, storedApproval } from '../../campaign/approval.ts';
import { checkBudget } from '../../campaign/budget.ts';
import type { CostEstimate } from '../../campaign/cost.ts';
import { frozenVariants } from '../../campaign/variants-definition.ts';
import { duplicatePolicies } from '../../domain/contacts.ts';
import { InputError } from '../../domain/problems.ts';
import type { RerunState } from '../../domain/runs.ts';
import type { Account } from '../../gateway/account.ts';
import { copyNotifyList } from '../../ledger/notifications/insert.ts';
import { digestLeftOut } from '../../ledger/planning/count-contacts.ts';
import type { Decided } from '../../ledger/planning/planned-run.ts';
import { digestSentLines } from '../../ledger/planning/read-decided.ts';
import { restageRecipients } from '../../ledger/planning/restage-recipients.ts';
import { listContactFiles } from '../../ledger/runs/contact-files.ts';
import type { Run } from '../../ledger/runs/find.ts';
import { inRerunLock } from '../../ledger/runs/made-once.ts';
import type { Session, Transaction } from '../../ledger/session.ts';
import { readVersion } from '../../platform/package-folder.ts';
import type { EngineContext } from '../context.ts';
import { windowOf } from '../dispatch/dispatch-settings.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { requireUnpurgedRun } from '../runs/find-run.ts';
import { canaryRule } from '../watch/canary.ts';
import { accountCaps } from './caps.ts';
import { comparePlans, planAnewText } from './compare-plan.ts';
import { type AlongsideRun, type Making, makeRun } from './make-run.ts';
import { testOriginText } from './origins.ts';
import type { ProvablePlan } from './plan-file.ts';
import { accountLeaves, comparedCost } from './prove-plan.ts';

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

/** The approval rule in a frozen definition. */
export function approvalOf(definition: unknown): Approval | undefined {
  return frozenDefinition.parse(definition).approval;
}

export type Rerun = {
  /** The run whose recipients get their messages again. */
  readonly of: string;
  readonly states: readonly RerunState[];
  /** Only the recipient of this row: its line, counted from file to file. */
  readonly row?: number | undefined;
  /** The account of the run; today's rates and the budget apply. */
  readonly account: Account;
  /** The audit trail has it. */
  readonly reason?: string;
  readonly alongside?: AlongsideRun;
  /** The rerun sends exactly this, or is refused. */
  readonly plan?: ProvablePlan;
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
  await requireRerunnable(context, sourceRun);
  // Otherwise two concurrent reruns could send to the same recipients, and states could change during the copy.
  const planned = await inRerunLock(ledger.pool, sourceRun, async () =>
    expandRerun(context, await requireUnpurgedRun(context, sourceRun), rerun),
  );
  if (planned !== undefined) return planned;
  const what = 'A process is sending this run or planning a rerun of it. Wait for it, or stop it first.';
  throw new InputError([{ where: `run ${sourceRun}`, what }]);
}

/** @throws InputError for a run that does not exist, was purged, or is a test */
export async function requireRerunnable(context: EngineContext, run: string): Promise<Run> {
  const found = await requireUnpurgedRun(context, run);
  if (found.kind === 'test') throw new InputError([{ where: `run ${run}`, what: testOriginText(run) }]);
  return found;
}

async function expandRerun(
  context: EngineContext,
  source: Run,
  { states, row, account, reason, alongside, plan }: Rerun,
): Promise<string> {
  const { run: sourceRun, campaign, channel, definition } = source;
  return makeRun(context, {
    campaign,
    channel,
    definition,
    account,
    approval: { rule: approvalOf(definition), folder: null, campaignFile: null, campaignSha256: null },
    alongside,
    stage: async (client, { run, now, tariffs }) => {
      return {
        ...(await stageRerun(client, source, { states, row, account }, { now, tariffs })),
        files: { kind: 'run', run: sourceRun },
        details: { campaign, of: sourceRun, only: states, ...(row && { row }), ...(reason && { reason }) },
        recordTargets: (session) => copyNotifyList(session, sourceRun, run),
        check: async (client, decided, cost) => {
          checkRerun(source, { states, row }, decided.recipients, cost);
          if (plan)
            compareReruns(source, plan, await proveRerun(client, plan.id, { account, decided, cost }));
        },
      };
    },
  });
}

/** What a rerun sends, to be compared. Its messages are those of the run, so its lines say which they are. */
export async function proveRerun(
  client: Transaction,
  id: string,
  {
    account,
    decided,
    cost,
  }: { readonly account: Account; readonly decided: Decided; readonly cost: CostEstimate },
): Promise<ProvablePlan> {
  const { recipients, requests } = decided;
  return {
    id,
    volley: readVersion(),
    inputs: { campaign: {}, account: accountLeaves(id, account), contactFiles: [], attachments: {} },
    result: {
      filtered: 0,
      invalid: 0,
      leftOut: await digestLeftOut(client),
      beyondLimit: null,
      recipients,
      requests,
      windows: [],
      smsParts: null,
      pastSendTimes: 0,
      cost: comparedCost(cost),
      contents: await digestSentLines(client),
    },
  };
}

function compareReruns({ run, account }: Run, planned: ProvablePlan, now: ProvablePlan): void {
  const where = `run ${run}`;
  comparePlans(planned, now, {
    planFile: where,
    next: planAnewText,
    account,
    locate: () => where,
    attachmentOf: () => undefined,
  });
}

type StagedRerun = Pick<Rerun, 'states' | 'row' | 'account'>;

/** Stages the recipients of a rerun in a session, for a plan or a run of it. */
export async function stageRerun(
  client: Session,
  { run, campaign, channel, definition }: Run,
  { states, row, account }: StagedRerun,
  { now, tariffs }: Pick<Making, 'now' | 'tariffs'>,
) {
  const { dispatch, contacts } = frozenDefinition.parse(definition);
  const recipientColumn = 'Recipient';
  await restageRecipients(client, { run, states, row }, recipientColumn, tariffs.tariffIndexOf);
  return {
    chunkSize: dispatch.chunkSize,
    recipientColumn,
    identity: contacts,
    ...accountCaps(account, channel, now),
    contactFiles: await listContactFiles(client, run),
    sourceRun: run,
    origins: [],
    canary: canaryRule(campaign, definition),
    variants: frozenVariants.parse(definition).variants && { control: undefined, hasRest: false },
    window: windowPlanner(windowOf(definition), account.interface, now),
  };
}

/** @throws InputError when there are no such recipients, or the budget is exceeded */
export function checkRerun(
  { run, channel, definition }: Run,
  { states, row }: Pick<Rerun, 'states' | 'row'>,
  recipients: number,
  cost: CostEstimate,
): void {
  const where = `run ${run}`;
  if (recipients === 0) {
    const one = `The recipient of row ${row} is not ${states.join(' or ')} any more, is suppressed, or has been sent to by another rerun.`;
    const what =
      row !== undefined
        ? one
        : `No recipient is ${states.join(' or ')}, except suppressed ones, those of other reruns, and those beyond a cap. \`volley status ${run}\` shows the states.`;
    throw new InputError([{ where, what }]);
  }
  const { budget } = frozenDefinition.parse(definition);
  const locate = (path: readonly PropertyKey[]): string => `${where}, ${path.join('.')}`;
  checkBudget({ value: { budget, channel }, locate }, cost);
}
