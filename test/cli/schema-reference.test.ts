import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { definitionJsonSchema } from '../../src/campaign/definition.ts';
import { schemaReference } from '../../src/cli/reference/schema-reference.ts';
import { givenJsonSchema } from '../../src/engine/rehearsal/given-file.ts';
import { accountsJsonSchema } from '../../src/gateway/accounts-schema.ts';

const schemas = [
  ['campaign', definitionJsonSchema()],
  ['accounts', accountsJsonSchema()],
] as const;

const rowsOf = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(/(?<!\\) \| /));

test.each([...schemas, ['rehearsal', givenJsonSchema()]] as const)(
  'the %s reference describes the value and the purpose of every key',
  (_, schema) => {
    const incomplete = rowsOf(schemaReference('', '', schema)).filter(
      ([, , value = '', , words = '']) => value.trim() === '' || words.replace('|', '').trim() === '',
    );
    expect(incomplete).toEqual([]);
  },
);

test('the schema reference lists all forms of a value, and the keys of each', () => {
  const union: z.core.JSONSchema.JSONSchema = {
    anyOf: [
      { type: 'string', const: 'required' },
      {
        type: 'object',
        properties: { sender: { type: 'string', description: 'Who.' } },
        required: ['sender'],
      },
    ],
    description: 'Either.',
  };
  const reference = schemaReference('', '', { type: 'object', properties: { credentials: union } });
  expect(rowsOf(reference).map(([key, , value]) => [key, value])).toEqual([
    ['| `credentials`', '`required`, or a map'],
    ['| `credentials.sender`', 'text'],
  ]);
});

test.each(schemas)('docs/reference/%s.md equals the reference of its schema', (name, schema) => {
  const file = readFileSync(new URL(`../../docs/reference/${name}.md`, import.meta.url), 'utf8');
  const [, title = '', purpose = ''] = /^# (.*)\n\n(.*?\.) It is generated/.exec(file) ?? [];
  expect(schemaReference(title, purpose, schema)).toBe(file);
});
