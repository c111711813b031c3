import { Argument, type Command } from 'commander';
import { definitionJsonSchema } from '../../campaign/definition.ts';
import { accountsJsonSchema } from '../../gateway/accounts.ts';
import { schemaReference } from '../schema-reference.ts';
import type { Shell } from '../shell.ts';

const schemas = {
  campaign: { title: 'Campaign reference', jsonSchema: definitionJsonSchema },
  accounts: { title: 'Accounts reference', jsonSchema: accountsJsonSchema },
};

export function define(command: Command, shell: Shell): void {
  command
    .description('Prints the JSON Schema that editors use for completion, or the same as a table.')
    .addArgument(new Argument('<kind>', 'of which file').choices(Object.keys(schemas)))
    .option('--markdown', 'print a table in Markdown')
    .action((kind: keyof typeof schemas, { markdown }: { markdown?: true }) => {
      const { title, jsonSchema } = schemas[kind];
      shell.print(
        markdown ? schemaReference(title, jsonSchema()).trimEnd() : JSON.stringify(jsonSchema(), null, 2),
      );
    });
}
