import { checkBudget } from '../../campaign/budget.ts';
import { estimateCost } from '../../campaign/cost.ts';
import { freezeTargets } from '../../campaign/notify.ts';
import { checkRecipients } from '../../campaign/recipient-guards.ts';
import { createTariffs } from '../../campaign/tariffs.ts';
import { type Contact, isKeyed } from '../../domain/contacts.ts';
import { type RefusedRun, RefusedRunError } from '../../domain/problems.ts';
import type { DuplicateContacts, ReachedContacts } from '../../domain/rejected-contacts.ts';
import type { Account } from '../../gateway/account.ts';
import { insertRefusedRunNotifications } from '../../ledger/notifications/insert.ts';
import { insertNotifyList } from '../../ledger/notifications/notify-lists.ts';
import { expandRun } from '../../ledger/planning/expand.ts';
import type { PlannedRun } from '../../ledger/planning/planned-run.ts';
import { stageSuppressions } from '../../ledger/planning/remove-suppressed.ts';
import { stageContacts } from '../../ledger/planning/stage-contacts.ts';
import { recordFingerprint } from '../../ledger/runs/fingerprints.ts';
import { inSession } from '../../ledger/session.ts';
import { enqueueSlices } from '../../ledger/slices/enqueue.ts';
import { auditEntry } from '../audit.ts';
import type { EngineContext } from '../context.ts';
import { dispatchSettings } from '../dispatch/dispatch-settings.ts';
import { requireSendableLedger } from '../dispatch/ledger-location.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import { enqueueAndStart } from '../runs/begin-run.ts';
import { newRunId } from '../runs/run-id.ts';
import { createApprovalGate } from './approval-gate.ts';
import { createFingerprint } from './fingerprint.ts';
import { forecastRun, type RunForecast, readLimitsInForce, requireDeadlineMet } from './forecast.ts';
import { toFrequencyCap } from './frequency-cap.ts';
import type { KeptContactFiles } from './kept-contact-files.ts';
import { countLinesBefore, fileAndLineFormatter } from './line-numbers.ts';
import { type Origins, readOrigins } from './origins.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';
import { refuseRepeat } from './repeat-check.ts';
import { createSmsCounter } from './sms-text.ts';

export type PlanProgress = {
  /** Called for each batch, with its size. */
  readonly onRead: (contacts: number) => void;
  readonly onExpand: () => void;
  /** Called for fixed contacts, with the recipients that earlier runs may have reached. */
  readonly onOrigins?: (origins: Origins, reached: readonly ReachedContacts[]) => void;
  /** Called with the duplicates that are rejected. */
  readonly onRepeated?: (repeated: DuplicateContacts, placeOf: (line: number) => string) => void;
  readonly onForecast?: (forecast: RunForecast) => void;
};

export type PlanOptions = {
  /** Allows the run to repeat a recent one. */
  readonly again?: boolean;
  /** Runs in the transaction that creates the run. When it fails, no run is created. */
  readonly alongside?: (client: Parameters<PlannedRun['enqueue']>[0], run: string) => Promise<unknown>;
  /** Called when the contacts refuse the run; `addRefusalNotifications` by default. */
  readonly onRefused?: (refused: RefusedRun) => Promise<unknown>;
};

/**
 * Imports contacts into the ledger and expands them into a planned run. A crash leaves nothing behind.
 *
 * @param kept the same that the campaign was prepared with
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

/** Adds a notification for each `notify` target that a refused run concerns. @returns their ids */
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
  { again = false, alongside }: Omit<PlanOptions, 'onRefused'>,
): Promise<string> {
  const { campaign, account, composition, files, contacts, contactFiles, suppressionLists } = prepared;
  const definition = campaign.value;
  const now = context.now();
  const run = newRunId(now, context.randomBytes(5));
  const countParts = definition.channel === 'sms' ? createSmsCounter() : undefined;
  const linesBefore = countLinesBefore(contactFiles);
  const placeOf = fileAndLineFormatter(contactFiles, linesBefore);
  const limits = await readLimitsInForce(context, account);
  const tariffs = createTariffs(definition.channel, account);
  const first = await firstSlices(context, run, account, definition);
  const { name: plannedBy, via: plannedHow } = context.actor;
  const { workingFolder: folder, path: campaignFile, sha256: campaignSha256 } = prepared;
  const asked = { run, plannedBy, plannedHow, folder, campaignFile, campaignSha256 };
  const fingerprint = createFingerprint(definition);
  const gate = createApprovalGate(definition.approval, asked, enqueueAndStart(context, run, first.enqueue));
  await inSession(context.ledger.pool, async (client) => {
    await stageContacts(client, {
      contacts: fingerprint.watch(reportProgress(contacts, progress.onRead)),
      linesBefore,
      keyed: isKeyed(composition.identity),
      partsOf: ({ envelope, destination, address }) => countParts?.(envelope, address, destination) ?? null,
      tariffOf: tariffs.tariffIndexOf,
      takePieces: kept.takeCompletePieces,
    });
    await stageSuppressions(client, suppressionLists.addresses);
    const origins = await readOrigins(client, definition.campaign, prepared.origin, prepared.found().origins);
    progress.onExpand();
    const rates = tariffs.rates();
    await expandRun(
      client,
      {
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
        checkForecast:
          definition.deadline === undefined
            ? undefined
            : (portions) => {
                const forecast = forecastRun(definition, account, { limits, from: now }, portions, placeOf);
                requireDeadlineMet(campaign, forecast);
                progress.onForecast?.(forecast);
              },
        ...first,
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
        checkPlan: (totals, leftOut) => {
          const recipients = totals.reduce((sum, total) => sum + total.recipients, 0);
          if (origins.runs.length + origins.others.length > 0) progress.onOrigins?.(origins, leftOut.reached);
          checkRecipients(campaign, prepared.found(), { ...leftOut, recipients }, placeOf);
          progress.onRepeated?.(leftOut.repeated, placeOf);
          const estimate = estimateCost(totals, definition.channel, rates, now);
          checkBudget(campaign, estimate);
          gate.assess(totals, estimate);
        },
        createdAt: now,
      },
      context.ledger.hashKey,
    );
  });
  return run;
}

/** @param definition as it is frozen */
export async function firstSlices(
  { ledger }: EngineContext,
  run: string,
  account: Account,
  definition: unknown,
): Promise<Pick<PlannedRun, 'canary' | 'priority' | 'enqueue'>> {
  const queue = await ledger.queue();
  const { plan, failFast } = dispatchSettings(run, account, definition);
  return {
    canary: failFast?.first ?? null,
    priority: plan.priority,
    enqueue: (client) => enqueueSlices(queue, client, plan),
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
