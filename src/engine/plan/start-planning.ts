import { createTariffs } from '../../campaign/tariffs.ts';
import type { DuplicateContacts, ReachedContacts } from '../../domain/rejected-contacts.ts';
import type { EngineContext } from '../context.ts';
import { enqueueAndStart } from '../runs/begin-run.ts';
import { newRunId } from '../runs/run-id.ts';
import { createApprovalGate } from './approval-gate.ts';
import { createFingerprint } from './fingerprint.ts';
import { planFirstSlices } from './first-slices.ts';
import { type RunForecast, readLimitsInForce } from './forecast.ts';
import { countLinesBefore, createFileAndLineFormatter } from './line-numbers.ts';
import type { Origins } from './origins.ts';
import { countPastSendTimes } from './past-send-times.ts';
import type { PreparedCampaign } from './prepare-campaign.ts';

export type PlanProgress = {
  /** Called for each batch. */
  readonly onRead?: (contacts: number) => void;
  readonly onExpand?: () => void;
  /** Called with the origins of fixed contacts, and what they may have reached. */
  readonly onOrigins?: (origins: Origins, reached: readonly ReachedContacts[]) => void;
  /** Called with the duplicates that are rejected. */
  readonly onRepeated?: (repeated: DuplicateContacts, fileAndLine: (line: number) => string) => void;
  /** Called with the rows that a limit leaves for a later run. */
  readonly onBeyondLimit?: (rows: number) => void;
  /** Called with a warning about earlier runs of the campaign that can still send. */
  readonly onUnfinished?: (warning: string) => void;
  readonly onForecast?: (forecast: RunForecast) => void;
};

/** What a run needs before its contacts are read. */
export type Planning = Awaited<ReturnType<typeof startPlanning>>;

export async function startPlanning(
  context: EngineContext,
  prepared: PreparedCampaign,
  progress: PlanProgress,
) {
  const { campaign, account, contactFiles } = prepared;
  const definition = campaign.value;
  const now = context.now();
  const run = newRunId(now, context.randomBytes(5));
  const linesBefore = countLinesBefore(contactFiles);
  const limits = await readLimitsInForce(context, account);
  const first = await planFirstSlices(context, run, account, definition);
  const { name: plannedBy, via: plannedHow, token: plannedToken } = context.actor;
  const { workingFolder: folder, path: campaignFile, sha256: campaignSha256 } = prepared;
  const request = { run, plannedBy, plannedHow, plannedToken, folder, campaignFile, campaignSha256 };
  return {
    context,
    prepared,
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
    pastSendTimes: countPastSendTimes(definition.message, now),
    gate: createApprovalGate(definition.approval, request, enqueueAndStart(context, run, first.enqueue)),
  };
}
