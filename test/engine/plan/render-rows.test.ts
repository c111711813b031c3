import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RenderedRow } from '../../../src/domain/rendered-message.ts';
import { renderPlannedMessage } from '../../../src/engine/plan/planned-messages.ts';
import { prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { createRowChoice, renderRows, renderSms } from '../../../src/engine/plan/render-rows.ts';
import type { WantedRow } from '../../../src/engine/plan/row-choice.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const opened = testLedger();
let workspace: Workspace;
beforeAll(async () => {
  const rates = ['AU', 'NZ', 'GB'].map((destination) => {
    return `{ channel: sms, unit: part, destination: ${destination}, price: "0.10", currency: AUD }`;
  });
  workspace = await makeWorkspace({
    'accounts.yaml': `accounts:\n  main:\n    interface: rest-2.02\n    baseUrl: http://127.0.0.1:9\n    authToken: \${TOKEN}\n    rates: [${rates.join(', ')}]\n`,
  });
});
afterAll(async () => {
  await workspace[Symbol.asyncDispose]();
});

type Parts = {
  readonly message: string;
  readonly more?: string;
  readonly wanted?: readonly WantedRow[];
  readonly limit?: number;
};

async function render(
  rows: readonly string[],
  { message, more = '', wanted, limit }: Parts,
): Promise<RenderedRow[]> {
  await workspace.write('contacts.csv', ['to,name,team', ...rows, ''].join('\n'));
  await workspace.write(
    'campaign.yaml',
    `campaign: test\naccount: main\nchannel: sms\ncontacts: { file: contacts.csv, country: AU, maxInvalid: 100%, columns: { Recipient: to } }\nmessage: ${message}\n${more}`,
  );
  const settings = {
    workingFolder: workspace.folder,
    environment: { VOLLEY_ACCOUNTS: 'accounts.yaml', TOKEN: 'x' },
  };
  const now = new Date('2026-11-20T12:00:00Z');
  const prepared = await prepareCampaign('campaign.yaml', settings, { limit, keeps: 'rows' });
  const choice = createRowChoice(prepared, wanted);
  await previewCampaign(prepared, { ...opened.context, now: () => now }, { rows: choice });
  return renderRows(prepared, choice.chosen(), now);
}

const number = (index: number): string => `04120${String(index).padStart(5, '0')}`;
const whyOf = (rows: readonly RenderedRow[]) => rows.map(({ row, why }) => [row, why.join(', ')]);

describe('the rows that a page shows without a choice', () => {
  test('one row is chosen for each thing that differs, in the order of the file', async () => {
    const rows = [
      `${number(1)},Ann,A`,
      'nope,Zed,A',
      `${number(2)},,A`,
      `${number(3)},${'x'.repeat(200)},B`,
      `${number(4)},Бob,B`,
      `${number(5)},Al,B`,
      '+64211234567,Moana,B',
      `${number(6)},مرحبا,C`,
    ];
    expect(
      whyOf(await render(rows, { message: '{ Message: "Hi [[name|friend]]", SubAccount: "[[team]]" }' })),
    ).toEqual([
      [1, 'first, GSM-7, SubAccount A'],
      [3, 'fallback used'],
      [4, 'longest, most parts, SubAccount B'],
      [5, 'UCS-2'],
      [6, 'shortest'],
      [7, 'rate 2'],
      [8, 'right to left, SubAccount C'],
    ]);
  });

  test('they are few, however many rows and SubAccounts there are', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => `${number(index)},N${index},T${index}`);
    const chosen = await render(rows, { message: '{ Message: "Hi [[name]]", SubAccount: "[[team]]" }' });
    expect(chosen.length).toBeLessThan(12);
  });

  test('a row that is left out is not shown, and the next of its kind is', async () => {
    const long = 'x'.repeat(200);
    const rows = [
      `${number(1)},Ann,A`,
      `${number(1)},${long}x,A`,
      `${number(2)},${long},A`,
      `${number(3)},B,A`,
    ];
    expect(whyOf(await render(rows, { message: '{ Message: "Hi [[name]]" }' }))).toEqual([
      [1, 'first, GSM-7'],
      [3, 'longest, most parts'],
      [4, 'shortest'],
    ]);
  });

  test('rows beyond the limit of a plan are not shown, and keep their numbers', async () => {
    const rows = [`${number(1)},Ann,A`, `${number(2)},Bob,A`, `${number(3)},Cy,A`];
    const message = '{ Message: "Hi [[name]]" }';
    const wanted = [1, 3].map((row) => ({ kind: 'number', row }) as const);
    expect(whyOf(await render(rows, { message, limit: 2, wanted }))).toEqual([[1, '']]);
  });
});

describe('the placeholders of a row', () => {
  const placeholdersOf = async (message: string, row: string) => {
    const [found] = await render([row], { message });
    if (found?.kind !== 'message') throw new Error('the row has a message');
    return (found.message.placeholders ?? []).map(({ placeholder, value, source, mergedFrom }) => {
      return [placeholder, value, source, mergedFrom];
    });
  };

  test('values that the service merges name the field that carries them', async () => {
    expect(await placeholdersOf('{ Message: "Hi [[name|you]] [[STOP]]" }', `${number(1)},Ann,A`)).toEqual([
      ['[[name|you]]', 'Ann', 'column', 'Custom1'],
      ['[[STOP]]', null, 'service', null],
    ]);
    expect(await placeholdersOf('{ Message: "Hi [[name|you]]" }', `${number(1)},,A`)).toEqual([
      ['[[name|you]]', 'you', 'fallback', 'Custom1'],
    ]);
  });

  test('an empty value makes Volley fill all of them', async () => {
    expect(await placeholdersOf('{ Message: "Hi [[name]] [[team]]" }', `${number(1)},,A`)).toEqual([
      ['[[name]]', '', 'column', null],
      ['[[team]]', 'A', 'column', null],
    ]);
  });
});

test('a planned SMS is shown as the service merges it, with nothing for a field that its recipient lacks', async () => {
  const envelope = { fields: { Message: 'Hi [[Custom1]], [[STOP]]' }, keypads: [], files: [], audio: {} };
  const readFile = () => Promise.reject(new Error('it has no file'));
  const { sms } = await renderPlannedMessage('sms', envelope, { Recipient: '+61412000001' }, readFile);
  expect(sms?.parts.map(({ text }) => text)).toEqual(['Hi , [[STOP]]']);
});

describe('an SMS in parts', () => {
  test.each([
    ['x'.repeat(160), 'GSM-7', [160], 160],
    ['x'.repeat(161), 'GSM-7', [153, 8], 153],
    [`${'x'.repeat(152)}€${'x'.repeat(10)}`, 'GSM-7', [152, 12], 153],
    ['ж'.repeat(71), 'UCS-2', [67, 4], 67],
  ])('%s is divided as it is billed', (text, encoding, characters, charactersPerPart) => {
    const sms = renderSms(text, false);
    expect(sms).toMatchObject({ encoding, charactersPerPart });
    expect(sms.parts.map((part) => part.characters)).toEqual(characters);
    expect(sms.parts.map((part) => part.text).join('')).toBe(text);
  });
});
