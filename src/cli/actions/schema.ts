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

export type SchemaKind = keyof typeof schemas | 'api';

export async function schemaAction(
  shell: Shell,
  kind: SchemaKind,
  { markdown }: { markdown?: true },
): Promise<void> {
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
}
