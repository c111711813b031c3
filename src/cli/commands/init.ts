import { firstChannels } from '../../campaign/first-campaign.ts';
import { projectMarker } from '../../platform/project.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { parseCampaignName } from '../option-readers.ts';
import { countryOption } from '../options.ts';

export const command = defineCommand({
  description: `Makes a folder a Volley project: marks it (${projectMarker}) and makes an empty ledger (in .volley/ or DATABASE_URL). Without campaigns, also writes a first campaign, an account and settings. Overwrites nothing. On a terminal, asks what no option gives.`,
  arguments: [argument('[folder]', 'folder of the project (default: the working folder)')],
  options: [
    option('--name <name>', 'name of the first campaign (default: first)', { read: parseCampaignName }),
    option('--contacts <file>', 'its contact file, which stays where it is (default: an example)'),
    option('--channel <channel>', 'its channel (default: sms if the contacts have phone numbers)', {
      choices: firstChannels,
    }),
    option('--recipient <column>', 'column of the addresses (default: guessed)'),
    countryOption,
    flag('--bare', 'only the marker and the ledger, as on a server'),
    flag('--yes', 'ask nothing'),
    flag('--json', 'ask nothing, and print JSON'),
  ],
  examples: [
    ['volley init shop', 'make a project with a first campaign'],
    [
      'volley init shop --contacts members.csv --country AU',
      'write the first campaign for contacts of your own',
    ],
    ['volley init --bare', 'on a server: only the marker and the ledger'],
  ],
  run: async (shell, [folder], options) => {
    const { makeProject } = await import('../init/make-project.ts');
    await makeProject(shell, folder, options);
  },
});
