import { firstChannels } from '../../campaign/first-campaign.ts';
import { projectMarker } from '../../platform/project.ts';
import { argument, defineCommand, flag, option } from '../command.ts';
import { parseCampaignName } from '../option-readers.ts';
import { countryOption } from '../options.ts';

export const command = defineCommand({
  description: `Makes a folder a Volley project: marks it (${projectMarker}), and makes a new, empty ledger in .volley/ or in the database of DATABASE_URL. In a folder without campaigns, writes a first campaign, an account for the sandbox and settings. Overwrites nothing. On a terminal, asks what no option gives.`,
  arguments: [argument('[folder]', 'the folder of the project; the working folder by default')],
  options: [
    option('--name <name>', 'name of the first campaign (default: first)', { read: parseCampaignName }),
    option(
      '--contacts <file>',
      'contact file of the first campaign, which stays where it is (default: an example)',
    ),
    option(
      '--channel <channel>',
      'channel of the first campaign (default: sms if the contacts have phone numbers)',
      { choices: firstChannels },
    ),
    option('--recipient <column>', 'column with the phone numbers or e-mail addresses (default: guessed)'),
    countryOption,
    flag('--bare', 'write no campaign, account and settings, as on a server'),
    flag('--yes', 'ask nothing'),
    flag('--json', 'ask nothing, and print what was made as JSON'),
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
