import { freezeTargets } from '../../campaign/notify.ts';
import type { ContactFile } from '../../contacts/contact-file.ts';
import { type RefusedRun, RefusedRunError } from '../../domain/problems.ts';
import { insertRefusedRunNotifications } from '../../ledger/notifications/insert.ts';
import type { EngineContext } from '../context.ts';
import { requireSendableLedger } from '../dispatch/ledger-location.ts';
import { readLimitsInForce } from './forecast.ts';
import { makeRun } from './make-run.ts';
import { type PlanProgress, planSteps, type StepOptions } from './plan-steps.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { stageCampaign } from './stage-campaign.ts';

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
  const { campaign, account, contactFiles, kept, files, test } = prepared;
  const definition = campaign.value;
  const limits = await readLimitsInForce(context.ledger.pool, account);
  return makeRun(context, {
    campaign: definition.campaign,
    channel: definition.channel,
    definition,
    account,
    approval: {
      rule: definition.approval,
      folder: prepared.workingFolder,
      campaignFile: prepared.path,
      campaignSha256: prepared.sha256,
    },
    alongside,
    stage: async (client, { tariffs, ...making }) => {
      const staged = await stageCampaign(client, prepared, {
        now: making.now,
        readsLedger: true,
        onRead: progress.onRead,
        tariffOf: tariffs.tariffIndexOf,
        // The files are kept to report and send their other rows, which a test does not have.
        takePieces: test ? async () => [] : kept.takeCompletePieces,
      });
      progress.onExpand?.();
      const { rules, fingerprint } = staged;
      return {
        ...rules,
        kind: test ? 'test' : 'ordinary',
        contactFiles: contactFiles.map(({ name, format }, file) => ({
          name,
          linesBefore: rules.contactFiles[file]?.linesBefore ?? 0,
          ...readingOf(format()),
          sha256: kept.digestOf(file),
        })),
        files:
          fingerprint.paths().size === 0
            ? { kind: 'none' }
            : { kind: 'read', readFile: fingerprint.watchFiles(files.read) },
        ...planSteps({ context, prepared, staged, progress, limits, ...making }, options),
      };
    },
  });
}

/** How a contact file was read. */
function readingOf(read: ReturnType<ContactFile['format']>) {
  const { encoding, delimiter } = read.kind === 'csv' ? read : { encoding: null, delimiter: null };
  return {
    encoding,
    delimiter,
    sheet: read.kind === 'workbook' ? read.sheet : null,
    skipLines: read.skipLines,
  };
}
