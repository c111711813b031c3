import { Argument, type Command } from 'commander';
import { definitionJsonSchema } from '../../campaign/definition.ts';
import { accountsJsonSchema } from '../../gateway/accounts.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description('Prints the JSON Schema that editors use for completion.')
    .addArgument(new Argument('<kind>', 'of which file').choices(['campaign', 'accounts']))
    .action((kind: 'campaign' | 'accounts') => {
      const schema = kind === 'campaign' ? definitionJsonSchema() : accountsJsonSchema();
      shell.print(JSON.stringify(schema, null, 2));
    });
}
