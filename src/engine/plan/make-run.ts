import { type Approval, approvalReason } from '../../campaign/approval.ts';
import { type CostEstimate, estimateCost } from '../../campaign/cost.ts';
import { createTariffs, type Tariffs } from '../../campaign/tariffs.ts';
import { InputError } from '../../domain/problems.ts';
import type { ApprovalReason } from '../../domain/reasons.ts';
import type { Account } from '../../gateway/account.ts';
import { type ApprovalRequest, requestApproval } from '../../ledger/approvals/approvals.ts';
import type { AuditEvent } from '../../ledger/audit/audit.ts';
import { keepAccount } from '../../ledger/moves/moves.ts';
import { expandRun } from '../../ledger/planning/expand.ts';
import {
  type Decided,
  type PlannedRun,
  type StagedRules,
  withRest,
} from '../../ledger/planning/planned-run.ts';
import { inSession, type Session, type Transaction } from '../../ledger/session.ts';
import { enqueueSlices } from '../../ledger/slices/enqueue.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { dispatchSettings } from '../dispatch/dispatch-settings.ts';
import { newRunId } from '../runs/named-run.ts';
import { isWatched } from '../watch/watch-runs.ts';

/** Runs in the run's transaction. Its failure prevents the run. */
export type AlongsideRun = (client: Transaction, run: string) => Promise<unknown>;

/** A run of a campaign, a rerun, or an e-mail about a run. */
export type RunToMake = Pick<PlannedRun, 'campaign' | 'channel' | 'definition'> & {
  readonly account: Account;
  /** Given for a run that may have to wait for approval. */
  readonly approval?: Pick<ApprovalRequest, 'folder' | 'campaignFile' | 'campaignSha256'> & {
    readonly rule: Approval | undefined;
  };
  readonly alongside?: AlongsideRun | undefined;
  /** Stages the contacts in the session, and says what the run is made of. */
  readonly stage: (session: Session, making: Making) => Promise<StagedRun>;
};

export type Making = { readonly run: string; readonly now: Date; readonly tariffs: Tariffs };

export type StagedRun = StagedRules &
  Pick<PlannedRun, 'contactFiles' | 'kind' | 'files' | 'complete'> & {
    /** What the audit entry says; undefined: the run has none, because no operator asked for it. */
    readonly details?: AuditEvent['details'];
    /** Records the targets that are notified about the run. */
    readonly recordTargets?: (session: Transaction) => Promise<unknown>;
    /** By throwing it prevents the run. */
    readonly check: (
      client: Transaction,
      decided: Decided,
      cost: CostEstimate,
    ) => Promise<unknown> | undefined;
  };

/**
 * Every run is made here, in one session:
 *
 * 1. `stage`: contacts are read into temporary tables.
 * 2. `expandRun` begins a transaction and decides what is sent.
 * 3. `checkPlan` and its `check` may refuse that.
 * 4. `expandRun` writes the run.
 * 5. `enqueue` records it with its audit entries. Any worker may then acquire it, or it waits for approval.
 * 6. `complete` may refuse the run as a repetition. Then `expandRun` commits.
 *
 * @returns the run's id
 */
export async function makeRun(context: EngineContext, toMake: RunToMake): Promise<string> {
  const { ledger } = context;
  const { campaign, channel, definition, account, approval, alongside, stage } = toMake;
  const now = context.now();
  const run = newRunId(now, context.randomBytes(5));
  const queue = await ledger.queue();
  const { plan: slices, failFast } = dispatchSettings(run, account, definition);
  const tariffs = createTariffs(channel, account);
  await inSession(ledger.pool, async (client) => {
    const { details, recordTargets, check, ...staged } = await stage(client, { run, now, tariffs });
    const rates = tariffs.rates();
    let waitsBecause: ApprovalReason | undefined;
    const plan: PlannedRun = {
      ...staged,
      run,
      campaign,
      account: account.name,
      suppressionAccount: account.suppressionsOf,
      channel,
      definition,
      messageKey: context.randomBytes(32),
      rates,
      firstRequests: failFast?.first ?? null,
      priority: slices.priority,
      isWatched: isWatched(definition),
      checkPlan: async (session, decided) => {
        await requireAccountHere(session, account.name);
        const { totals, recipients } = withRest(decided);
        const cost = estimateCost(totals, channel, rates, now);
        await check(session, decided, cost);
        waitsBecause = approvalReason(approval?.rule, recipients, cost);
      },
      enqueue: async (session) => {
        await alongside?.(session, run);
        if (details) await auditEntry(context, { action: 'run planned', run, details })(session);
        await recordTargets?.(session);
        if (approval && waitsBecause !== undefined) {
          await requestApproval(session, toRequest(context, approval, run, waitsBecause));
          return;
        }
        await enqueueSlices(queue, session, slices);
        if (details) await auditEntry(context, { action: 'run started', run })(session);
      },
      createdAt: now,
    };
    await expandRun(client, plan, ledger.hashKey);
  });
  return run;
}

/** @throws InputError for an account that has moved to another cell: two ledgers would not know each other's runs */
async function requireAccountHere(session: Transaction, account: string): Promise<void> {
  const moved = await keepAccount(session, account);
  if (moved === undefined) return;
  const { cell, movedAt } = moved;
  const what = `It moved to cell ${cell} at ${movedAt.toISOString()}. Send its campaigns there, with the ledger and the accounts file of that cell.`;
  throw new InputError([{ where: `account ${account}`, what }]);
}

function toRequest(
  { actor }: EngineContext,
  { folder, campaignFile, campaignSha256 }: NonNullable<RunToMake['approval']>,
  run: string,
  reason: ApprovalReason,
): ApprovalRequest {
  const { name: plannedBy, via: plannedHow, token: plannedToken } = actor;
  return { run, reason, plannedBy, plannedHow, plannedToken, folder, campaignFile, campaignSha256 };
}
