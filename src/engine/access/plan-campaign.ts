import type { EngineContext } from '../context.ts';
import type { PlanRequest } from '../plan/planned-campaign.ts';
import { type PlanProgress, planStart, type StartPlan } from '../plan/start-plan.ts';
import type { CampaignSource } from '../schedule/start-ticks.ts';
import { type CampaignChoice, requireCampaign } from './start-by-key.ts';

/** A campaign to plan for a person. `fromRow`: number of the first row whose message the person asks for. */
export type CampaignToPlan = CampaignChoice & PlanRequest & { readonly fromRow: number };

/** @param stop ends the planning */
export type PlanCampaign = (
  context: EngineContext,
  request: CampaignToPlan,
  progress: { readonly onProgress: (progress: PlanProgress) => void; readonly stop: AbortSignal },
) => Promise<StartPlan>;

/**
 * Plans a campaign for the page that starts it.
 *
 * @throws InputError and NothingNewError as `planStart` does, or when the campaign is of another account
 */
export async function planCampaign(
  context: EngineContext,
  source: Pick<CampaignSource, 'folder' | 'settings'>,
  { campaign, accounts, fromRow, ...request }: CampaignToPlan,
  { onProgress, stop }: Parameters<PlanCampaign>[2],
): Promise<StartPlan> {
  const path = await requireCampaign(source, { campaign, accounts });
  return planStart(context, { ...request, path, settings: source.settings }, fromRow, (progress) => {
    stop.throwIfAborted();
    onProgress(progress);
  });
}
