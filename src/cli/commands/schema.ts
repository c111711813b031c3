import { Argument, type Command } from 'commander';
import { definitionJsonSchema } from '../../campaign/definition.ts';
import { accountsJsonSchema } from '../../gateway/accounts-schema.ts';
import { schemaReference } from '../schema-reference.ts';
import type { Shell } from '../shell.ts';

const schemas = {
  campaign: {
    title: 'Campaign reference',
    purpose: 'This page lists every key of a campaign, for people who write campaigns.',
    jsonSchema: definitionJsonSchema,
  },
  accounts: {
    title: 'Accounts reference',
    purpose: 'This page lists every key of the accounts file, for administrators.',
    jsonSchema: accountsJsonSchema,
  },
};

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Prints the JSON Schema of campaigns or accounts, for completion in editors, or as a table. For the API, prints its OpenAPI document.',
    )
    .addArgument(
      new Argument('<kind>', 'the kind of file, or the API').choices([...Object.keys(schemas), 'api']),
    )
    .option('--markdown', 'print a table in Markdown')
    .action(async (kind: keyof typeof schemas | 'api', { markdown }: { markdown?: true }) => {
      if (kind === 'api') {
        const { apiDocument } = await import('../../server/api/document.ts');
        shell.print(JSON.stringify(await apiDocument(), null, 2));
        return;
      }
      const { title, purpose, jsonSchema } = schemas[kind];
      shell.print(
        markdown
          ? schemaReference(title, purpose, jsonSchema()).trimEnd()
          : JSON.stringify(jsonSchema(), null, 2),
      );
    });
}
