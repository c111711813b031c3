import { checkBudget } from '../../campaign/budget.ts';
import { estimateCost } from '../../campaign/cost.ts';
import { freezeTargets } from '../../campaign/notify.ts';
import { checkRecipients } from '../../campaign/recipient-guards.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { type Contact, isKeyed } from '../../domain/contacts.ts';
import { type RefusedRun, RefusedRunError } from '../../domain/problems.ts';
import type { DuplicateContacts, ReachedContacts } from '../../domain/rejected-contacts.ts';
import { insertRefusedRunNotifications } from '../../ledger/notifications/insert.ts';
import { insertNotifyList } from '../../ledger/notifications/notify-lists.ts';
import { expandRun } from '../../ledger/planning/expand.ts';
import type { PlannedRun } from '../../ledger/planning/planned-run.ts';
import { stageSuppressions } from '../../ledger/planning/remove-suppressed.ts';
import { stageContacts } from '../../ledger/planning/stage-contacts.ts';
import { recordFingerprint } from '../../ledger/runs/fingerprints.ts';
import { inSession } from '../../ledger/session.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { requireSendableLedger } from '../dispatch/ledger-location.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { enqueueAndStart } from '../runs/begin-run.ts';
import { newRunId } from '../runs/run-id.ts';
import { createApprovalGate } from './approval-gate.ts';
import { createFingerprint } from './fingerprint.ts';
import { planFirstSlices } from './first-slices.ts';
import { forecastRun, type RunForecast, readLimitsInForce, requireDeadlineMet } from './forecast.ts';
import { toFrequencyCap } from './frequency-cap.ts';
import type { KeptContactFiles } from './kept-contact-files.ts';
import { countLinesBefore, createFileAndLineFormatter } from './line-numbers.ts';
import { type Origins, readOrigins } from './origins.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { refuseRepeat } from './repeat-check.ts';
import { createSmsCounter } from './sms-text.ts';

export type PlanProgress = {
  /** Called for each batch. */
  readonly onRead: (contacts: number) => void;
  readonly onExpand: () => void;
  /** Called with the origins of fixed contacts, and what they may have reached. */
  readonly onOrigins?: (origins: Origins, reached: readonly ReachedContacts[]) => void;
  /** Called with the duplicates that are rejected. */
  readonly onRepeated?: (repeated: DuplicateContacts, fileAndLine: (line: number) => string) => void;
  readonly onForecast?: (forecast: RunForecast) => void;
};

export type PlanOptions = {
  /** Allows the run to repeat a recent one. */
  readonly again?: boolean;
  /** Runs in the run's transaction. Its failure prevents the run. */
  readonly alongside?: (client: Parameters<PlannedRun['enqueue']>[0], run: string) => Promise<unknown>;
  /** Called when a rule about contacts refuses the run; `addRefusalNotifications` by default. */
  readonly onRefused?: (refused: RefusedRun) => Promise<unknown>;
};

/**
 * Imports contacts and expands them into a planned run. A crash leaves nothing behind.
 *
 * @param kept the instance that the campaign was prepared with
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when the run would exceed its budget, miss a deadline, or repeat another run
 */
export async function planRun(
  context: EngineContext,
  prepared: PreparedCampaign,
  kept: KeptContactFiles,
  progress: PlanProgress,
  { onRefused, ...options }: PlanOptions = {},
): Promise<string> {
  await requireSendableLedger(context);
  try {
    return await planContacts(context, prepared, kept, progress, options);
  } catch (error) {
    if (error instanceof RefusedRunError)
      await (onRefused ?? ((refused) => addRefusalNotifications(context, prepared, refused)))(error.refused);
    throw error;
  }
}

/** Adds a notification per `notify` target. @returns their ids */
export function addRefusalNotifications(
  { ledger, now }: EngineContext,
  { campaign, absolutePath: campaignFile }: PreparedCampaign,
  refused: RefusedRun,
): Promise<readonly string[]> {
  return insertRefusedRunNotifications(
    ledger.pool,
    freezeTargets(campaign.value),
    { refused, campaignFile },
    now(),
  );
}

async function planContacts(
  context: EngineContext,
  prepared: PreparedCampaign,
  kept: KeptContactFiles,
  progress: PlanProgress,
  options: Omit<PlanOptions, 'onRefused'>,
): Promise<string> {
  const planning = await startPlanning(context, prepared, kept, progress);
  const { run, definition, fingerprint, linesBefore, tariffs } = planning;
  const countParts = definition.channel === 'sms' ? createSmsCounter() : undefined;
  await inSession(context.ledger.pool, async (client) => {
    await stageContacts(client, {
      contacts: fingerprint.watch(reportProgress(prepared.contacts, progress.onRead)),
      linesBefore,
      keyed: isKeyed(prepared.composition.identity),
      partsOf: ({ envelope, destination, address }) => countParts?.(envelope, address, destination) ?? null,
      tariffOf: tariffs.tariffIndexOf,
      takePieces: kept.takeCompletePieces,
    });
    await stageSuppressions(client, prepared.suppressionLists.addresses);
    const named = prepared.found().origins;
    const origins = await readOrigins(client, definition.campaign, prepared.origin, named);
    progress.onExpand();
    const rates = tariffs.rates();
    const plan = {
      ...toPlannedRun(planning, origins, rates),
      ...planSteps(planning, origins, rates, options),
    };
    await expandRun(client, plan, context.ledger.hashKey);
  });
  return run;
}

type Planning = Awaited<ReturnType<typeof startPlanning>>;

async function startPlanning(
  context: EngineContext,
  prepared: PreparedCampaign,
  kept: KeptContactFiles,
  progress: PlanProgress,
) {
  const { campaign, account, contactFiles } = prepared;
  const definition = campaign.value;
  const now = context.now();
  const run = newRunId(now, context.randomBytes(5));
  const linesBefore = countLinesBefore(contactFiles);
  const limits = await readLimitsInForce(context, account);
  const first = await planFirstSlices(context, run, account, definition);
  const { name: plannedBy, via: plannedHow } = context.actor;
  const { workingFolder: folder, path: campaignFile, sha256: campaignSha256 } = prepared;
  const request = { run, plannedBy, plannedHow, folder, campaignFile, campaignSha256 };
  return {
    context,
    prepared,
    kept,
    progress,
    definition,
    now,
    run,
    linesBefore,
    fileAndLine: createFileAndLineFormatter(contactFiles, linesBefore),
    limits,
    tariffs: createTariffs(definition.channel, account),
    first,
    fingerprint: createFingerprint(definition),
    gate: createApprovalGate(definition.approval, request, enqueueAndStart(context, run, first.enqueue)),
  };
}

type PlanStep = 'enqueue' | 'complete' | 'checkForecast' | 'checkPlan';

function toPlannedRun(
  { context, prepared, kept, definition, now, run, linesBefore, first, fingerprint }: Planning,
  origins: Origins,
  rates: PlannedRun['rates'],
): Omit<PlannedRun, PlanStep> {
  const { account, composition, contactFiles, files } = prepared;
  return {
    run,
    campaign: definition.campaign,
    account: definition.account,
    suppressionAccount: account.suppressionsOf,
    channel: definition.channel,
    definition,
    messageKey: context.randomBytes(32),
    chunkSize: definition.dispatch.chunkSize,
    recipientColumn: composition.recipientColumn,
    identity: composition.identity,
    frequencyCap: toFrequencyCap(definition, now),
    contactFiles: contactFiles.map(({ name, format }, file) => {
      const { encoding, delimiter, skipLines } = format();
      const sha256 = kept.digestOf(file);
      return { name, linesBefore: linesBefore(file), encoding, delimiter, skipLines, sha256 };
    }),
    sourceRun: null,
    origins: origins.runs,
    files:
      fingerprint.paths().size === 0
        ? { kind: 'none' }
        : { kind: 'read', readFile: fingerprint.watchFiles(files.read) },
    rates,
    window: windowPlanner(definition.window, account.interface, now),
    canary: first.canary,
    priority: first.priority,
    createdAt: now,
  };
}

function planSteps(
  { context, prepared, progress, definition, now, run, fileAndLine, limits, fingerprint, gate }: Planning,
  origins: Origins,
  rates: PlannedRun['rates'],
  { again = false, alongside }: Omit<PlanOptions, 'onRefused'>,
): Pick<PlannedRun, PlanStep> {
  const { campaign, account } = prepared;
  const checkForecast: PlannedRun['checkForecast'] = (windowTotals) => {
    const forecast = forecastRun(definition, account, { limits, from: now }, windowTotals, fileAndLine);
    requireDeadlineMet(campaign, forecast);
    progress.onForecast?.(forecast);
  };
  return {
    checkForecast: definition.deadline === undefined ? undefined : checkForecast,
    checkPlan: (totals, rejected) => {
      const recipients = totals.reduce((sum, total) => sum + total.recipients, 0);
      if (origins.runs.length + origins.others.length > 0) progress.onOrigins?.(origins, rejected.reached);
      checkRecipients(campaign, prepared.found(), { ...rejected, recipients }, fileAndLine);
      progress.onRepeated?.(rejected.repeated, fileAndLine);
      const estimate = estimateCost(totals, definition.channel, rates, now);
      checkBudget(campaign, estimate);
      gate.assess(totals, estimate);
    },
    enqueue: async (session) => {
      await alongside?.(session, run);
      const of = origins.runs.length > 0 ? { of: origins.runs } : {};
      const details = { campaign: definition.campaign, file: prepared.path, ...of };
      await auditEntry(context, { action: 'run planned', run, details })(session);
      await insertNotifyList(session, run, freezeTargets(definition), prepared.absolutePath);
      await gate.enqueue(session);
    },
    complete: async (session) => {
      const relatives = origins.relatives.map((each) => each.run);
      const made = { run, fingerprint: fingerprint.digest(), now, relatives };
      await recordFingerprint(session, run, made.fingerprint);
      if (!again) await refuseRepeat(session, campaign, made);
    },
  };
}

async function* reportProgress(
  contacts: AsyncIterable<readonly Contact[]>,
  onRead: (contacts: number) => void,
): AsyncGenerator<readonly Contact[], void, undefined> {
  for await (const batch of contacts) {
    onRead(batch.length);
    yield batch;
  }
}
