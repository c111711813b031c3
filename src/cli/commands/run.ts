import type { Command } from 'commander';
import { prepareCampaign } from '../../engine/prepare.ts';
import { requireReachable } from '../../engine/reachable.ts';
import { addContactsOption } from '../options.ts';
import { dispatchAndPrint, planWithProgress } from '../run-steps.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addContactsOption(command)
    .description(
      'Makes a new run of a campaign and sends it. Ctrl-C drains: what is on its way is recorded, and `volley resume` goes on.',
    )
    .argument('<campaign>', 'the campaign file (YAML)')
    .option('--json', "print the run's summary as JSON")
    .action(async (path: string, { json, contacts }: { json?: true; contacts?: string[] }) => {
      const prepared = await prepareCampaign(path, shell.settings, contacts);
      await requireReachable(prepared.account);
      await withLedger(shell, async (context) => {
        const run = await planWithProgress(shell, context, prepared);
        await dispatchAndPrint(shell, context, run, prepared.account, json === true);
      });
    });
}
