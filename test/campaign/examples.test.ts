import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Campaign, checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import { definitionJsonSchema } from '../../src/campaign/definition.ts';
import { describeMessageKey, messageKeys } from '../../src/campaign/message-keys.ts';
import type { SendingAccount } from '../../src/campaign/sending-account.ts';
import { openAccounts } from '../../src/gateway/accounts-file.ts';
import { accountsJsonSchema } from '../../src/gateway/accounts-schema.ts';
import { wireInterfaces } from '../../src/wire/interfaces.ts';

const folder = new URL('../../campaigns/', import.meta.url);
const readText = (name: string) => readFileSync(new URL(name, folder), 'utf8');
const yamlIn = (path: string) =>
  readdirSync(new URL(path, folder))
    .filter((name) => name.endsWith('.yaml') && name !== 'accounts.yaml')
    .map((name) => path.slice(2) + name);
const campaigns = [...yamlIn('./'), ...yamlIn('./interfaces/')];

/** The account of a campaign. */
function accountOf({ value }: Campaign): SendingAccount {
  const environment = { VOLLEY_SANDBOX_TOKEN: 'token' };
  const account = openAccounts(readText('accounts.yaml'), 'accounts.yaml').read(value.account, environment);
  return { interface: account.interface, format: account.format, loopback: true };
}

describe('the example campaigns', () => {
  test('there is an example campaign for every channel of every interface, and for every format', () => {
    const used = campaigns.map((name) => {
      const campaign = readCampaign(readText(name), name);
      const { interface: interfaceName, format } = accountOf(campaign);
      return { channel: `${interfaceName} ${campaign.value.channel}`, format: `${interfaceName} ${format}` };
    });
    const there = wireInterfaces.flatMap(({ name, channels }) =>
      channels.map((channel) => `${name} ${channel}`),
    );
    expect(new Set(used.map(({ channel }) => channel))).toEqual(new Set(there));
    const formats = wireInterfaces.map(({ name, format }) => `${name} ${format}`);
    expect(new Set(used.map(({ format }) => format))).toEqual(new Set(formats));
  });

  test.each(campaigns)('the example campaign %s is valid', (name) => {
    const campaign = readCampaign(readText(name), name);
    expect(() => checkCampaign(campaign, accountOf(campaign))).not.toThrow();
  });
});

/** As an editor does: reads the file with YAML's core schema, and checks it against the published JSON Schema. */
function editorAccepts(schema: unknown): (source: string) => boolean {
  const validate = new Ajv2020({ allowUnionTypes: true }).compile(schema as object);
  return (source) => validate(parse(source));
}

describe('the published JSON Schema', () => {
  test.each([
    ['campaign', definitionJsonSchema()],
    ['accounts', accountsJsonSchema()],
  ])('the published schema of %s is what `volley schema` prints', (kind, schema) => {
    expect(readText(`${kind}.schema.json`)).toBe(`${JSON.stringify(schema, null, 2)}\n`);
  });

  test.each([...campaigns, 'accounts.yaml'])('the first line of %s names the schema', (name) => {
    const kind = name === 'accounts.yaml' ? 'accounts' : 'campaign';
    const path = `${name.includes('/') ? '../' : './'}${kind}.schema.json`;
    expect(readText(name).split('\n')[0]).toBe(`# yaml-language-server: $schema=${path}`);
  });

  const campaignInEditor = editorAccepts(definitionJsonSchema());
  const accountsInEditor = editorAccepts(accountsJsonSchema());

  test.each(campaigns)('the schema accepts %s', (name) => {
    expect(campaignInEditor(readText(name))).toBe(true);
  });

  test('the schema accepts accounts.yaml', () => {
    expect(accountsInEditor(readText('accounts.yaml'))).toBe(true);
  });

  const campaign = `
campaign: Outage-2026
account: Main
channel: sms
contacts: { file: a.csv, country: NO, columns: { Recipient: 1, Custom1: true } }
message: { Message: Hi, ChargeCode: 123, SubAccount: 1.5, CharacterConversion: true, Reference: no }
dispatch: { chunkSize: 200, concurrency: 8, retries: 0 }
`;

  test('the schema accepts unquoted numbers and booleans, as Volley does', () => {
    expect(campaignInEditor(campaign)).toBe(true);
    const account: SendingAccount = { interface: 'rest-2.02', format: 'json', loopback: false };
    expect(() => checkCampaign(readCampaign(campaign, 'c.yaml'), account)).not.toThrow();
  });

  test.each([
    ['campaign: Outage-2026', 'campaign: 2026'],
    ['account: Main', 'account: 7'],
    ['Message: Hi', 'Message: "0123"'],
    ['Message: Hi', 'Message: Hi, ForceGSMChars: true'],
    ['Message: Hi', 'Message: Hi, Keypads: [{ Tone: 1, RouteNumber: +6491 }]'],
    ['Custom1: true', 'Custom1: "[[a]] [[b|c]]", Company: { value: 7 }'],
    [', columns: { Recipient: 1, Custom1: true }', ', countryColumn: land, landlines: allow'],
    ['country: NO', 'where: [{ column: a, equals: 1 }, { column: 2, in: [NSW, 3] }]'],
    ['country: NO', 'where: [{ column: a, present: true }, { column: b, present: false }]'],
    ['country: NO', 'suppressions: [no-sms.csv, 2026]'],
    ['country: NO', 'notWithin: 7d'],
    ['country: NO', 'notWithin: { time: 12h, by: any }'],
    ['dispatch:', 'budget: { campaign: 500.00, subAccounts: { ACME: 0, "*": "0.50" } }\ndispatch:'],
    ['dispatch:', 'budget: { chargeCodes: { 2600: 1000000000 } }\ndispatch:'],
    ['dispatch:', 'chargeCodes: codes.csv\ndispatch:'],
    ['dispatch:', 'chargeCodes: { file: codes.csv, column: 1 }\ndispatch:'],
  ])('the schema accepts %s written as %s, as Volley does', (from, to) => {
    expect(campaignInEditor(campaign.replace(from, to))).toBe(true);
    expect(() => readCampaign(campaign.replace(from, to), 'c.yaml')).not.toThrow();
  });

  test.each([
    ['channel: sms', 'channel: smss'],
    ['chunkSize: 200', 'chunkSize: 0'],
    ['chunkSize: 200', 'chunkSize: many'],
    ['chunkSize: 200', 'chunksize: 200'],
    ['Message: Hi', 'Mesage: Hi'],
    ['Message: Hi', 'Message: Hi, MessageID: a1'],
    ['Message: Hi', 'Message: Hi, Keypads: [{ Tone: 10, RouteNumber: +6491 }]'],
    ['Message: Hi', 'Message: Hi, Keypads: [{ Tone: 1 }]'],
    ['Message: Hi', 'Message: [[state]]'],
    ['Message: Hi', 'Message: ~'],
    ['Message: Hi', 'Message: '],
    ['Recipient: 1', 'FirstName: 1'],
    ['account: Main', 'account: a b'],
    ['country: NO', 'country: Norway'],
    ['country: NO', 'landlines: maybe'],
    ['country: NO', 'where: state'],
    ['country: NO', 'where: [{ column: a }]'],
    ['country: NO', 'where: [{ column: a, equals: 1, present: true }]'],
    ['country: NO', 'where: [{ column: a, present: 1 }]'],
    ['country: NO', 'suppressions: no-sms.csv'],
    ['country: NO', 'notWithin: week'],
    ['country: NO', 'notWithin: { time: 7d, by: all }'],
    ['Recipient: 1', 'Recipient: "[[a]]"'],
    ['Recipient: 1', 'Recipient: { value: 1 }'],
    ['Custom1: true', 'Custom1: { value: "[[a]]" }'],
    ['Custom1: true', 'Custom1: { constant: 1 }'],
    ['dispatch:', 'budget: { campaign: 1000000000.5 }\ndispatch:'],
    ['dispatch:', 'budget: { campaign: -1 }\ndispatch:'],
    ['dispatch:', 'budget: { campaign: "1e3" }\ndispatch:'],
    ['dispatch:', 'budget: { campaign: 5 NZD }\ndispatch:'],
    ['dispatch:', 'budget: { subAccounts: [ACME] }\ndispatch:'],
    ['dispatch:', 'chargeCodes: { column: 1 }\ndispatch:'],
    ['dispatch:', 'chargeCodes: [codes.csv]\ndispatch:'],
  ])('the schema refuses %s written as %s, as Volley does', (from, to) => {
    expect(campaignInEditor(campaign.replace(from, to))).toBe(false);
    expect(() => readCampaign(campaign.replace(from, to), 'c.yaml')).toThrow();
  });

  test('the schema refuses a secret in the accounts file, and accepts a lower-case variable name', () => {
    const account = (token: string) =>
      `accounts: { a: { interface: rest-2.02, baseUrl: "https://a.example", authToken: "${token}" } }`;
    expect(accountsInEditor(account('${my_token}'))).toBe(true);
    expect(accountsInEditor(account('hunter2'))).toBe(false);
  });

  test('the schema has the unit of each channel in a rate', () => {
    const accepts = (rate: string): boolean =>
      accountsInEditor(
        `accounts: { a: { interface: rest-2.02, baseUrl: "https://a.example", rates: [{ ${rate} }] } }`,
      );
    expect(accepts('channel: sms, unit: part, price: 0.08, currency: NZD')).toBe(true);
    expect(accepts('channel: sms, unit: part, price: "0.08", currency: NZD')).toBe(true);
    expect(accepts('channel: sms, unit: email, price: 0.08, currency: NZD')).toBe(false);
    expect(accepts('channel: sms, unit: part, price: 0.08, currency: nzd')).toBe(false);
    expect(accepts('channel: sms, unit: part, price: -1, currency: NZD')).toBe(false);
  });

  test('the schema describes every message field', () => {
    const descriptions = messageKeys.map(describeMessageKey);
    expect(new Set(descriptions).size).toBe(messageKeys.length);
    expect(() => describeMessageKey('Subject')).toThrow('Subject has no description');
  });
});
