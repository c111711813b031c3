import { type Command, Option } from 'commander';
import { firstChannels } from '../../campaign/first-campaign.ts';
import { projectMarker } from '../../platform/project.ts';
import type { InitOptions } from '../actions/init.ts';
import { countryOption } from '../late-options.ts';
import { parseCampaignName } from '../options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  command
    .description(
      `Makes a folder a Volley project: marks it (${projectMarker}), makes a new, empty ledger, and, in a folder without campaigns, writes a first campaign, an account for the sandbox and settings. The ledger is in .volley/, or in the database of DATABASE_URL. Overwrites nothing. On a terminal, asks what no option gives.`,
    )
    .argument('[folder]', 'the folder of the project; the working folder by default')
    .option('--name <name>', 'name of the first campaign (default: first)', parseCampaignName)
    .option(
      '--contacts <file>',
      'contact file of the first campaign, which stays where it is (default: an example)',
    )
    .addOption(
      new Option(
        '--channel <channel>',
        'channel of the first campaign (default: sms if the contacts have phone numbers)',
      ).choices(firstChannels),
    )
    .option('--recipient <column>', 'column with the phone numbers or e-mail addresses (default: guessed)')
    .addOption(await countryOption(words, 'country of phone numbers without a country code, such as NZ'))
    .option('--bare', 'write no campaign, account and settings, as on a server')
    .option('--yes', 'ask nothing')
    .option('--json', 'ask nothing, and print what was made as JSON')
    .action(async (named: string | undefined, options: InitOptions) => {
      const { initAction } = await import('../actions/init.ts');
      await initAction(shell, named, options);
    });
}
