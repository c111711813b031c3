import type { Command } from 'commander';
import { addContactsOption } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addContactsOption(command)
    .description(
      'Checks a campaign with its account, placeholders and files, and the header of its contact file, and asks the service whether it takes the credential. Sends and writes nothing.',
    )
    .argument('<campaign>', 'the campaign: its file (YAML), or its name in the folder campaigns')
    .option('--strict', 'refuse what is only warned of, with exit code 2')
    .option('--json', 'print the result as JSON')
    .action(async (path: string, options: { json?: true; strict?: true; contacts?: string[] }) => {
      const { checkAction } = await import('../actions/check.ts');
      await checkAction(shell, path, options);
    });
}
