import type { Command } from 'commander';
import { prepareCampaign } from '../../engine/plan/prepare.ts';
import type { Settings } from '../../engine/settings.ts';
import { addContactsOption } from '../options.ts';
import type { Shell } from '../shell.ts';
import { impatient } from '../standard-input.ts';

export function define(command: Command, shell: Shell): void {
  addContactsOption(command)
    .description(
      'Checks a campaign with its account, contact file header, placeholders and files. Sends and writes nothing.',
    )
    .argument('<campaign>', 'the campaign file (YAML)')
    .option('--json', 'print the result as JSON')
    .action(async (path: string, { json, contacts }: { json?: true; contacts?: string[] }) => {
      const { campaign, account, close } = await prepareCampaign(path, settingsFor(shell), {
        contactFiles: contacts,
      });
      await close();
      const { campaign: name, channel } = campaign.value;
      shell.print(
        json
          ? JSON.stringify({ campaign: name, account: account.name, channel, ok: true })
          : `${path}: campaign ${name} is in order (${channel} through account ${account.name}).`,
      );
    });
}

function settingsFor({ settings }: Shell): Settings {
  const { environment, workingFolder } = settings;
  return {
    environment,
    workingFolder,
    get standardInput() {
      return impatient(settings.standardInput);
    },
  };
}
