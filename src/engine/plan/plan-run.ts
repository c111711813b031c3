import { freezeTargets } from '../../campaign/notify.ts';
import { type Contact, isKeyed } from '../../domain/contacts.ts';
import { type RefusedRun, RefusedRunError } from '../../domain/problems.ts';
import { insertRefusedRunNotifications } from '../../ledger/notifications/insert.ts';
import { expandRun } from '../../ledger/planning/expand.ts';
import type { PlannedRun } from '../../ledger/planning/planned-run.ts';
import { stageSuppressions } from '../../ledger/planning/remove-suppressed.ts';
import { stageContacts } from '../../ledger/planning/stage-contacts.ts';
import { inSession } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import { requireSendableLedger } from '../dispatch/ledger-location.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { toFrequencyCap } from './frequency-cap.ts';
import { type Origins, readOrigins } from './origins.ts';
import { watchPastSendTimes } from './past-send-times.ts';
import { type PlanStep, planSteps, type StepOptions } from './plan-steps.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { createSmsCounter } from './sms-text.ts';
import { type Planning, type PlanProgress, startPlanning } from './start-planning.ts';

export type PlanOptions = StepOptions & {
  readonly progress?: PlanProgress;
  /** Called when a rule about contacts refuses the run; `addRefusalNotifications` by default. */
  readonly onRefused?: (refused: RefusedRun) => Promise<unknown>;
};

/**
 * Imports contacts and expands them into a planned run. A crash leaves nothing behind.
 *
 * @param prepared keeps its contact files
 * @throws RefusedRunError when the contacts break a rule of the campaign
 * @throws InputError when the run would exceed its budget, miss a deadline, or repeat another run
 */
export async function planRun(
  context: EngineContext,
  prepared: PreparedCampaign,
  { onRefused, progress = {}, ...options }: PlanOptions = {},
): Promise<string> {
  await requireSendableLedger(context);
  try {
    return await planContacts(context, prepared, progress, options);
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
  progress: PlanProgress,
  options: StepOptions,
): Promise<string> {
  const planning = await startPlanning(context, prepared, progress);
  const { run, definition, fingerprint, pastSendTimes, linesBefore, tariffs } = planning;
  const read = reportProgress(prepared.contacts, progress.onRead);
  const contacts = options.onFacts ? watchPastSendTimes(read, pastSendTimes) : read;
  const countParts = definition.channel === 'sms' ? createSmsCounter() : undefined;
  await inSession(context.ledger.pool, async (client) => {
    await stageContacts(client, {
      contacts: fingerprint.watch(contacts),
      linesBefore,
      keyed: isKeyed(prepared.composition.identity),
      partsOf: ({ envelope, destination, address }) => countParts?.(envelope, address, destination) ?? null,
      tariffOf: tariffs.tariffIndexOf,
      // The files are kept to report and send their other rows, which a test does not have.
      takePieces: prepared.test ? async () => [] : prepared.kept.takeCompletePieces,
    });
    await stageSuppressions(client, prepared.suppressionLists.addresses);
    const named = prepared.found().origins;
    const origins = await readOrigins(client, definition.campaign, prepared.origin, named);
    progress.onExpand?.();
    const rates = tariffs.rates();
    const plan = {
      ...toPlannedRun(planning, origins, rates),
      ...planSteps(planning, origins, rates, options),
    };
    await expandRun(client, plan, context.ledger.hashKey);
  });
  return run;
}

function toPlannedRun(
  { context, prepared, definition, now, run, linesBefore, first, fingerprint }: Planning,
  origins: Origins,
  rates: PlannedRun['rates'],
): Omit<PlannedRun, PlanStep> {
  const { account, composition, contactFiles, kept, files } = prepared;
  return {
    run,
    campaign: definition.campaign,
    account: definition.account,
    suppressionAccount: account.suppressionsOf,
    channel: definition.channel,
    kind: prepared.test ? 'test' : 'ordinary',
    definition,
    messageKey: context.randomBytes(32),
    chunkSize: definition.dispatch.chunkSize,
    recipientColumn: composition.recipientColumn,
    identity: composition.identity,
    frequencyCap: toFrequencyCap(definition, now),
    contactFiles: contactFiles.map(({ name, format }, file) => {
      const read = format();
      const { encoding, delimiter } = read.kind === 'csv' ? read : { encoding: null, delimiter: null };
      return {
        name,
        linesBefore: linesBefore(file),
        encoding,
        delimiter,
        sheet: read.kind === 'workbook' ? read.sheet : null,
        skipLines: read.skipLines,
        sha256: kept.digestOf(file),
      };
    }),
    sourceRun: null,
    limit: prepared.limit,
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

async function* reportProgress(
  contacts: AsyncIterable<readonly Contact[]>,
  onRead: PlanProgress['onRead'],
): AsyncGenerator<readonly Contact[], void, undefined> {
  for await (const batch of contacts) {
    onRead?.(batch.length);
    yield batch;
  }
}
