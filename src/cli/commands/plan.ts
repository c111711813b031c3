import type { Command } from 'commander';
import { prepareCampaign } from '../../engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../engine/plan/preview-campaign.ts';
import { chooseOrigin } from '../choose-origin.ts';
import { addContactsOption, addLimitOption, addOriginOption, addTestOption } from '../options.ts';
import { previewText } from '../preview-text.ts';
import { type Shell, withLedgerIfAny } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addTestOption(addLimitOption(addOriginOption(addContactsOption(command))))
    .description(
      'Shows what a run would send: accepted and rejected contacts, requests, merging, SMS parts, the estimated cost and the first messages. Sends and writes nothing.',
    )
    .argument('<campaign>', 'the campaign file (YAML)')
    .option('--json', 'print the plan as JSON')
    .action(async (path: string, { json, of, ...options }: PlanOptions) => {
      shell.endOnStop('Stopped while planning. A plan sends and writes nothing.');
      const origin = await chooseOrigin(shell, path, of);
      const { contacts: contactFiles, limit, testTo } = options;
      const prepared = await prepareCampaign(path, shell.settings, { contactFiles, origin, limit, testTo });
      const onLarge = (bytesPerAddress: number): void => {
        const millions = Math.ceil((memoryOfPlan + bytesPerAddress * 5_000_000) / 1024 / 1024 / 10) * 10;
        shell.note(
          `  memory   the plan is large: each further recipient takes about ${bytesPerAddress} bytes, so 5,000,000 of them about ${millions} MiB in all`,
        );
      };
      const preview = await withLedgerIfAny(shell, (context) =>
        previewCampaign(prepared, { ...(context ?? { now: shell.now }), onLarge }),
      );
      shell.print(json ? JSON.stringify(preview) : previewText(preview, shell.screen));
    });
}

/** Bytes for a few recipients (measured). */
const memoryOfPlan = 200 * 1024 * 1024;

type PlanOptions = {
  readonly json?: true;
  readonly contacts?: string[];
  readonly of?: string;
  readonly limit?: number;
  readonly testTo?: readonly string[];
};
