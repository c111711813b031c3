import type { Command } from 'commander';
import { prepareCampaign } from '../../engine/prepare.ts';
import { previewCampaign } from '../../engine/preview.ts';
import { addContactsOption } from '../options.ts';
import { previewText } from '../preview-text.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addContactsOption(command)
    .description(
      'Shows what a run would send: contacts read and left out, requests, merging, SMS parts and the first messages. Sends and writes nothing.',
    )
    .argument('<campaign>', 'the campaign file (YAML)')
    .option('--json', 'print the plan as JSON')
    .action(async (path: string, { json, contacts }: { json?: true; contacts?: string[] }) => {
      const preview = await previewCampaign(await prepareCampaign(path, shell.settings, contacts));
      shell.print(json ? JSON.stringify(preview) : previewText(preview));
    });
}
