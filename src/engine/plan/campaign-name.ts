import { readCampaign } from '../../campaign/campaign.ts';
import { readText } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

/** @throws InputError for a campaign with mistakes */
export async function readCampaignName(path: string, settings: Settings): Promise<string> {
  return readCampaign(await readText(path, settings, 'campaign'), path).value.campaign;
}
