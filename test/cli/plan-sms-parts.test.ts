import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { volleyInProcess } from '../support/volley.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const accounts = `accounts:
  sandbox:
    interface: rest-2.02
    baseUrl: http://127.0.0.1:9
    authToken: \${TOKEN}
    rates:
      - { channel: sms, unit: part, destination: AU, price: "0.0800", currency: AUD }
      - { channel: sms, unit: part, price: "0.1234", currency: AUD }
`;

let database: TestDatabase;
let workspace: Workspace;
beforeAll(async () => {
  database = await createTestDatabase();
  workspace = await makeWorkspace({ 'accounts.yaml': accounts });
});
afterAll(async () => {
  await database.drop();
  await workspace[Symbol.asyncDispose]();
});

/** Contacts in Australia, the last in New Zealand. */
async function plan(message: string, names: readonly string[], ...options: string[]): Promise<string> {
  const rows = names.map((name, index) => {
    return `${index === names.length - 1 ? '+64211234567' : `04120000${10 + index}`},${name}`;
  });
  await workspace.write('contacts.csv', ['mobile,name', ...rows, ''].join('\n'));
  await workspace.write(
    'campaign.yaml',
    `campaign: test\naccount: sandbox\nchannel: sms\ncontacts: { file: contacts.csv, country: AU, columns: { Recipient: mobile } }\nmessage: { Message: "${message}" }\n`,
  );
  const { code, stdout, stderr } = await volleyInProcess(['plan', 'campaign.yaml', ...options], {
    cwd: workspace.folder,
    env: { DATABASE_URL: database.url, VOLLEY_ACCOUNTS: 'accounts.yaml', TOKEN: 'x' },
  });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout;
}

/** Without the emoji 93 characters: one part instead of two. */
const water = `[[name]] 🎉 ${'the water is off '.repeat(5)}`;

test('a plan says which characters cost SMS parts, how many, what they cost and what to write', async () => {
  const printed = await plan(water, ['Ann', 'Bob', 'Zoë', 'Cy']);
  expect(printed).toContain(`  SMS parts   8, with the service's own placeholders counted as written
  avoidable   4 parts of 8, 0.3634 AUD, because of single characters; without them 4
              UCS-2 because of 🎉 (U+1F389) in the message: 3 parts more for 3 recipients, 0.2834 AUD; leave it out
              UCS-2 because of ë (U+00EB) in column name and 🎉 (U+1F389) in the message: 1 part more for 1 recipient, 0.0800 AUD; write e for ë; leave out 🎉
`);
});

test('the plan as JSON has the same figures', async () => {
  const { smsParts, partCauses } = JSON.parse(await plan(water, ['Ann', 'Zoë’s', 'Cy'], '--json'));
  expect(smsParts).toBe(6);
  expect(partCauses).toEqual({
    parts: 3,
    cost: '0.2834',
    currency: 'AUD',
    groups: [
      {
        encoding: 'UCS-2',
        causes: [{ kind: 'character', character: '🎉', instead: '', column: null }],
        recipients: 2,
        parts: 2,
        cost: '0.2034',
      },
      {
        encoding: 'UCS-2',
        causes: [
          { kind: 'character', character: 'ë', instead: 'e', column: 'name' },
          { kind: 'character', character: '’', instead: "'", column: 'name' },
          { kind: 'character', character: '🎉', instead: '', column: null },
        ],
        recipients: 1,
        parts: 1,
        cost: '0.0800',
      },
    ],
    others: null,
  });
});

test('a plan of one part for each recipient names no character', async () => {
  const printed = await plan('Hi [[name]] 🎉', ['Ann', 'Zoë']);
  expect(printed).not.toContain('avoidable');
  const { partCauses } = JSON.parse(await plan('Hi [[name]] 🎉', ['Ann', 'Zoë'], '--json'));
  expect(partCauses).toMatchObject({ parts: 0, groups: [], others: null });
});

test('many combinations of characters are added up after the first ten, and in JSON after twenty', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `${String.fromCharCode(0x100 + 2 * index)}a`);
  const printed = await plan(`[[name]] ${'a'.repeat(90)}`, names);
  expect(printed.match(/UCS-2 because of/g)).toHaveLength(10);
  expect(printed).toContain('  because of other characters: 20 parts more for 20 recipients, 1.6434 AUD\n');
  const { partCauses } = JSON.parse(await plan(`[[name]] ${'a'.repeat(90)}`, names, '--json'));
  expect(partCauses.groups).toHaveLength(20);
  expect(partCauses).toMatchObject({ parts: 30, others: { recipients: 10, parts: 10 } });
});
