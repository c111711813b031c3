import type { Command } from 'commander';
import { prepareCampaign } from '../../engine/plan/prepare.ts';
import { previewCampaign } from '../../engine/plan/preview.ts';
import { addContactsOption, addOriginOption } from '../options.ts';
import { previewText } from '../preview-text.ts';
import { type Shell, withLedgerIfAny } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addOriginOption(addContactsOption(command))
    .description(
      'Shows what a run would send: contacts read and left out, requests, merging, SMS parts, the estimated cost and the first messages. Sends and writes nothing.',
    )
    .argument('<campaign>', 'the campaign file (YAML)')
    .option('--json', 'print the plan as JSON')
    .action(async (path: string, { json, contacts: contactFiles, of: origin }: PlanOptions) => {
      const prepared = await prepareCampaign(path, shell.settings, { contactFiles, origin });
      const preview = await withLedgerIfAny(shell, (context) => previewCampaign(prepared, context ?? shell));
      shell.print(json ? JSON.stringify(preview) : previewText(preview, shell.screen));
    });
}

type PlanOptions = { readonly json?: true; readonly contacts?: string[]; readonly of?: string };
