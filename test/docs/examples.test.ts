import { describe, expect, test } from 'vitest';
import { type Document, parseDocument } from 'yaml';
import { z } from 'zod';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import { definitionJsonSchema } from '../../src/campaign/definition.ts';
import type { SendingAccount } from '../../src/campaign/sending-account.ts';
import { readCells } from '../../src/engine/cells/cells-file.ts';
import { givenJsonSchema, readGiven } from '../../src/engine/rehearsal/given-file.ts';
import { openAccounts } from '../../src/gateway/accounts-file.ts';
import { accountsJsonSchema } from '../../src/gateway/accounts-schema.ts';
import { blocksOf, documentPaths, inlineCodesOf, type Piece } from '../support/documents.ts';

const keysOf = z.looseObject({ properties: z.record(z.string(), z.unknown()) });
const campaignKeys = Object.keys(keysOf.parse(definitionJsonSchema()).properties);
const rehearsalKeys = Object.keys(keysOf.parse(givenJsonSchema()).properties);
const accounts = z.looseObject({
  properties: z.looseObject({ accounts: z.looseObject({ additionalProperties: keysOf }) }),
});
const accountKeys = Object.keys(
  accounts.parse(accountsJsonSchema()).properties.accounts.additionalProperties.properties,
);

/** Completes an example that shows some keys only. */
const campaign = {
  campaign: 'example',
  account: 'main',
  channel: 'sms',
  contacts: { file: 'contacts.csv', country: 'NZ' },
  message: { Message: 'Hello' },
};
const account = { interface: 'rest-2.02', baseUrl: 'https://service.example', authToken: '${TOKEN}' };
const sendingAccount: SendingAccount = { interface: 'rest-2.02', format: 'json', loopback: false };

type Kind = 'campaign' | 'account' | 'accounts file' | 'cells file' | 'rehearsal';

/** As Volley reads YAML: scalars stay text. */
const read = (text: string): Document => parseDocument(text, { schema: 'failsafe' });

function topKeysOf(text: string): string[] {
  const value: unknown = read(text).toJS();
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

function kindOf(text: string): Kind | undefined {
  const keys = topKeysOf(text);
  if (keys.length === 0) return undefined;
  if (keys.every((key) => campaignKeys.includes(key))) return 'campaign';
  if (keys.every((key) => accountKeys.includes(key))) return 'account';
  if (keys.every((key) => rehearsalKeys.includes(key))) return 'rehearsal';
  if (keys.join() === 'cells') return 'cells file';
  return keys.join() === 'accounts' ? 'accounts file' : undefined;
}

/** Reads the example with the schema that Volley reads such a file with. */
function load({ where, text }: Piece): void {
  const kind = kindOf(text);
  if (kind === undefined)
    throw new Error(`${where}: this belongs neither to a campaign nor to an account: ${text}`);
  if (kind === 'campaign') {
    const document = completed(text, [], campaign);
    checkCampaign(readCampaign(document, where), sendingAccount);
  } else if (kind === 'account') {
    const document = read('accounts: { main: {} }');
    document.setIn(['accounts', 'main'], read(text).contents);
    openAccounts(completed(String(document), ['accounts', 'main'], account), where);
  } else if (kind === 'cells file') {
    readCells(text, where);
  } else if (kind === 'rehearsal') {
    readGiven(text, where);
  } else {
    const names = Object.keys(
      z.object({ accounts: z.record(z.string(), z.unknown()) }).parse(read(text).toJS()).accounts,
    );
    const document = names.reduce((file, name) => completed(file, ['accounts', name], account), text);
    openAccounts(document, where);
  }
}

/** The text, completed with the keys that it lacks. */
function completed(text: string, at: readonly string[], defaults: Readonly<Record<string, unknown>>): string {
  const document = read(text);
  for (const [key, value] of Object.entries(defaults))
    if (!document.hasIn([...at, key])) document.setIn([...at, key], document.createNode(value));
  return String(document);
}

describe('the schema reads the YAML of the documents', () => {
  const blocks = documentPaths.flatMap(blocksOf).filter(({ language }) => language === 'yaml');

  test('the documents have examples of every kind of file', () => {
    expect(new Set(blocks.map(({ text }) => kindOf(text)))).toEqual(
      new Set(['campaign', 'account', 'accounts file', 'cells file', 'rehearsal']),
    );
  });

  test.each(blocks)('$where', (block) => {
    expect(() => load(block)).not.toThrow();
  });

  const inline = documentPaths
    .flatMap(inlineCodesOf)
    .filter(({ text }) => /^[a-z]\w*: *[[{][^…]*[\]}]$/.test(text) && kindOf(text) !== undefined);

  test.each(inline)('$where: $text', (example) => {
    expect(() => load(example)).not.toThrow();
  });
});
