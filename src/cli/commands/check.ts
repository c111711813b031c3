import { argument, defineCommand, flag } from '../command.ts';
import { campaignArgument, contactsOption, jsonFlag } from '../options.ts';

export const command = defineCommand({
  description: 'Checks a campaign, as `volley plan --check`.',
  arguments: [argument('<campaign>', campaignArgument)],
  options: [contactsOption, flag('--strict', 'refuse what is only warned of, with exit code 2'), jsonFlag],
  examples: [],
  run: async (shell, [campaign], { json, strict, contacts }) => {
    const { checkCampaign } = await import('../plans/check-campaign.ts');
    await checkCampaign(shell, campaign, { json, strict, contacts });
  },
});
