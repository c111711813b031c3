import type { EngineContext } from '../context.ts';
import type { UnmovedFile } from '../plan/contact-patterns.ts';
import { startUnlessWaiting } from '../runs/begin-run.ts';
import type { ScheduleSource } from '../schedule/start-ticks.ts';
import type { StartResult } from './once-per-key.ts';
import type { StartRequest, StartRun } from './start-by-key.ts';

export type CampaignStarter = {
  readonly startRun: StartRun;
  readonly accountNamed: ScheduleSource['accountNamed'];
  /** Limits the plans that are made at once. */
  readonly limit: <Result>(plan: () => Promise<Result>) => Promise<Result>;
};

export type CampaignStart =
  | (Extract<StartResult, { kind: 'planned' | 'repeated' }> & { readonly waitsForApproval: boolean })
  | Extract<StartResult, { kind: 'under way' | 'key of another' }>;

/**
 * Plans one run per key, which workers then send unless it waits for approval.
 *
 * @throws InputError and NothingNewError as `startByKey` does
 */
export async function startCampaign(
  context: EngineContext,
  { startRun, accountNamed, limit }: CampaignStarter,
  request: StartRequest,
  onUnmoved: (file: UnmovedFile) => void,
): Promise<CampaignStart> {
  const end = await limit(() => startRun(context, request, onUnmoved));
  if (end.kind !== 'planned' && end.kind !== 'repeated') return end;
  return { ...end, waitsForApproval: await startUnlessWaiting(context, end.run, accountNamed) };
}
