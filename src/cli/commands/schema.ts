import { argument, defineCommand, flag } from '../command.ts';

export const command = defineCommand({
  description: 'Prints the JSON Schema of campaigns, accounts or rehearsals, or OpenAPI of the API.',
  arguments: [
    argument('<kind>', 'the kind of file, or the API', {
      choices: ['campaign', 'accounts', 'rehearsal', 'api'],
    }),
  ],
  options: [flag('--markdown', 'print a table in Markdown')],
  examples: [['volley schema campaign', 'print the JSON Schema of campaigns']],
  run: async (shell, [kind], { markdown }) => {
    if (kind === 'api') {
      const { apiDocument } = await import('../../server/api/document.ts');
      return shell.print(JSON.stringify(await apiDocument(), null, 2));
    }
    const { title, purpose, load } = files[kind];
    const jsonSchema = (await load())();
    if (!markdown) return shell.print(JSON.stringify(jsonSchema, null, 2));
    const { schemaReference } = await import('../reference/schema-reference.ts');
    shell.print(schemaReference(title, purpose, jsonSchema).trimEnd());
  },
});

const files = {
  campaign: {
    title: 'Campaign reference',
    purpose:
      "This page lists every key of a campaign, for people who write campaigns. Paths are relative to the campaign's folder.",
    load: async () => (await import('../../campaign/definition.ts')).definitionJsonSchema,
  },
  accounts: {
    title: 'Accounts reference',
    purpose: 'This page lists every key of the accounts file, for administrators.',
    load: async () => (await import('../../gateway/accounts-schema.ts')).accountsJsonSchema,
  },
  rehearsal: {
    title: 'Rehearsal reference',
    purpose:
      'This page lists every key of the file of `volley plan --simulate --given`, for operators. Shares are of recipients.',
    load: async () => (await import('../../engine/rehearsal/given-file.ts')).givenJsonSchema,
  },
};
