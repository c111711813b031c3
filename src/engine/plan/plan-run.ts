import { freezeTargets } from '../../campaign/notify.ts';
import { type Contact, isKeyed } from '../../domain/contacts.ts';
import { type RefusedRun, RefusedRunError } from '../../domain/problems.ts';
import { insertRefusedRunNotifications } from '../../ledger/notifications/insert.ts';
import { stageSuppressions } from '../../ledger/planning/remove-suppressed.ts';
import { stageContacts } from '../../ledger/planning/stage-contacts.ts';
import type { EngineContext } from '../context.ts';
import { requireSendableLedger } from '../dispatch/ledger-location.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { createFingerprint, type Fingerprint } from './fingerprint.ts';
import { readLimitsInForce } from './forecast.ts';
import { toFrequencyCap } from './frequency-cap.ts';
import { countLinesBefore, createFileAndLineFormatter } from './line-numbers.ts';
import { makeRun, type StagedRun } from './make-run.ts';
import { readOrigins } from './origins.ts';
import { countPastSendTimes, watchPastSendTimes } from './past-send-times.ts';
import { type PlanProgress, planSteps, type StepOptions } from './plan-steps.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { createSmsCounter } from './sms-text.ts';

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
  { alongside, ...options }: StepOptions,
): Promise<string> {
  const { campaign, account, contactFiles, workingFolder, path, sha256 } = prepared;
  const definition = campaign.value;
  const linesBefore = countLinesBefore(contactFiles);
  const fileAndLine = createFileAndLineFormatter(contactFiles, linesBefore);
  const limits = await readLimitsInForce(context, account);
  const rule = definition.approval;
  return makeRun(context, {
    campaign: definition.campaign,
    channel: definition.channel,
    definition,
    account,
    approval: { rule, folder: workingFolder, campaignFile: path, campaignSha256: sha256 },
    alongside,
    stage: async (client, { tariffs, ...making }) => {
      const fingerprint = createFingerprint(definition);
      const pastSendTimes = countPastSendTimes(definition.message, making.now);
      const read = reportProgress(prepared.contacts, progress.onRead);
      const contacts = options.onFacts ? watchPastSendTimes(read, pastSendTimes) : read;
      const countParts = definition.channel === 'sms' ? createSmsCounter() : undefined;
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
      const watched = { progress, fileAndLine, limits, fingerprint, pastSendTimes };
      return {
        ...partsOf(prepared, linesBefore, fingerprint, making.now),
        origins: origins.runs,
        ...planSteps({ context, prepared, ...making, ...watched }, origins, options),
      };
    },
  });
}

/** What the run of a campaign is made of. */
function partsOf(
  { campaign, account, composition, contactFiles, kept, files, limit, test }: PreparedCampaign,
  linesBefore: (file: number) => number,
  fingerprint: Fingerprint,
  now: Date,
) {
  const { dispatch, window } = campaign.value;
  return {
    kind: test ? 'test' : 'ordinary',
    chunkSize: dispatch.chunkSize,
    recipientColumn: composition.recipientColumn,
    identity: composition.identity,
    frequencyCap: toFrequencyCap(campaign.value, now),
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
    limit,
    files:
      fingerprint.paths().size === 0
        ? { kind: 'none' }
        : { kind: 'read', readFile: fingerprint.watchFiles(files.read) },
    window: windowPlanner(window, account.interface, now),
  } satisfies Partial<StagedRun>;
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
