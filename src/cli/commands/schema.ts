import { Argument, type Command } from 'commander';
import type { SchemaKind } from '../actions/schema.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Prints the JSON Schema of campaigns or accounts, for completion in editors, or as a table. For the API, prints its OpenAPI document.',
    )
    .addArgument(
      new Argument('<kind>', 'the kind of file, or the API').choices(['campaign', 'accounts', 'api']),
    )
    .option('--markdown', 'print a table in Markdown')
    .action(async (kind: SchemaKind, options: { markdown?: true }) => {
      const { schemaAction } = await import('../actions/schema.ts');
      await schemaAction(shell, kind, options);
    });
}
