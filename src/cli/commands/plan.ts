import type { Command } from 'commander';
import type { PlanOptions } from '../actions/plan.ts';
import { addContactsOption, addLimitOption, addOriginOption, addTestOption } from '../options.ts';
import type { Shell } from '../shell.ts';
import { readWantedRows } from '../wanted-rows.ts';

export function define(command: Command, shell: Shell): void {
  addTestOption(addLimitOption(addOriginOption(addContactsOption(command))))
    .description(
      'Shows what a run would send: accepted and rejected contacts, requests, merging, SMS parts, the estimated cost and the first messages. Sends and writes nothing.',
    )
    .argument('<campaign>', 'the campaign: its file (YAML), or its name in the folder campaigns')
    .option('--json', 'print the plan as JSON')
    .option(
      '--out <file>',
      'write a plan file too: `volley run --plan <file>` sends exactly what was planned, or refuses and says what has changed',
    )
    .option('--preview <file>', 'write a page (HTML) too: messages as their readers see them')
    .option(
      '--rows <numbers>',
      'the rows on that page: contacts from 1, such as 1,7,500 or 10-12, or lines, such as contacts.csv:8 (default: first, longest, shortest, most parts and others that differ)',
      readWantedRows,
    )
    .action(async (path: string, options: PlanOptions) => {
      const { planAction } = await import('../actions/plan.ts');
      await planAction(shell, path, options);
    });
}
