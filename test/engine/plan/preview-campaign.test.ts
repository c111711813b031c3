import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { previewText } from '../../../src/cli/plans/preview-text.ts';
import type { Contact } from '../../../src/domain/contacts.ts';
import { planRun } from '../../../src/engine/plan/plan-run.ts';
import { type PreparedCampaign, prepareCampaign } from '../../../src/engine/plan/prepare-campaign.ts';
import type { Preview } from '../../../src/engine/plan/preview.ts';
import { previewCampaign } from '../../../src/engine/plan/preview-campaign.ts';
import { requireSummary } from '../../../src/engine/runs/find-run.ts';
import { anEnvelope } from '../../support/ledger.ts';
import { liveHeap } from '../../support/live-heap.ts';
import { rejectedContactsOf } from '../../support/rejected-contacts.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';
import { accountsYaml, settingsIn } from '../../support/workspace.ts';

const opened = testLedger();
const workspace = testWorkspace();

type Parts = {
  readonly message: string;
  readonly chunkSize?: number;
  readonly channel?: string;
  /** Further keys of `contacts`. */
  readonly contacts?: string;
  /** Further keys of the campaign. */
  readonly more?: string;
};

async function prepare(
  rows: readonly string[],
  { message, chunkSize = 200, channel = 'sms', contacts = '', more = '' }: Parts,
) {
  await workspace.write('contacts.csv', ['to,name,code', ...rows, ''].join('\n'));
  await workspace.write(
    'campaign.yaml',
    `campaign: test
account: sandbox
channel: ${channel}
contacts: { file: contacts.csv, country: AU, columns: { Recipient: to }${contacts} }
message: ${message}
dispatch: { chunkSize: ${chunkSize} }
${more}`,
  );
  return prepareCampaign('campaign.yaml', settingsIn(workspace), { keeps: 'files' });
}

const preview = async (rows: readonly string[], parts: Parts): Promise<Preview> =>
  previewCampaign(await prepare(rows, parts), opened.context);

const number = (index: number): string => `04120${String(index).padStart(5, '0')}`;

describe('the preview counts what a run of the campaign would have', () => {
  // Twelve numbers, each up to four times in different spellings, some invalid, with five codes.
  const rows = Array.from({ length: 48 }, (_, index) => {
    const to = number(index % 12);
    const writing = [to, `+61 ${to.slice(1)}`, to.replace('0412', '0412-'), index % 8 === 3 ? 'n/a' : to];
    return `${writing[index % 4]},Name ${index % 3},C${index % 5}`;
  });

  test('the preview has the figures of its run', async () => {
    const parts = {
      message: '{ Message: "Hello [[name]]", ChargeCode: "[[code]]" }',
      chunkSize: 3,
      contacts: ', where: [{ column: code, in: [C0, C1, C3] }]',
    };
    const previewed = await preview(rows, parts);
    const run = await planRun(opened.context, await prepare(rows, parts), { again: true });
    const { contacts, requests, recipients } = await requireSummary(opened.context, run);
    const { rows: envelopes } = await opened.ledger.pool.query(
      'SELECT count(*)::integer FROM envelopes WHERE run_id = $1',
      [run],
    );
    const counts = [previewed.requests, previewed.recipients, previewed.envelopes];

    expect(previewed.contacts).toEqual(contacts);
    expect(counts).toEqual([requests.total, recipients.total, envelopes[0].count]);
    expect(previewed.rejected).toEqual((await rejectedContactsOf(opened.ledger.pool, run)).slice(0, 20));
    expect(contacts).toMatchObject({ read: 29, invalid: 4, duplicate: 13 });
    expect(previewed.filtered).toBe(19);
  });

  test('the preview counts a run of no rows', async () => {
    const parts = { message: '{ Message: Hello }', contacts: ', allowEmpty: true' };
    expect(await preview([], parts)).toMatchObject({
      contacts: { read: 0, invalid: 0, duplicate: 0, suppressed: 0 },
      recipients: 0,
      requests: 0,
      envelopes: 0,
      smsParts: 0,
      rejected: [],
      messages: [],
    });
  });
});

describe('rejected contacts in a preview', () => {
  test('a duplicate phone number names the line of the first, in any spelling', async () => {
    const { rejected } = await preview(
      [`${number(1)},A,C`, `${number(2)},B,C`, `+61${number(1).slice(1)},C,C`],
      {
        message: '{ Message: Hello }',
      },
    );
    expect(rejected).toEqual([
      { file: 'contacts.csv', line: 4, column: 'to', reason: 'duplicate', detail: 'same address as line 2' },
    ]);
  });

  test('a duplicate e-mail address names the line of the first, in any spelling of its domain', async () => {
    const rows = ['ana@bücher.example,A,C', 'ana@BÜCHER.example,B,C', 'ana@xn--bcher-kva.example,C,C'];
    const { rejected, messages } = await preview(rows, {
      channel: 'email',
      message: '{ EmailSubject: Hi, MessagePlain: Hello }',
    });
    expect(messages.map(({ destination }) => destination.Recipient)).toEqual(['ana@xn--bcher-kva.example']);
    expect(rejected.map(({ line, reason }) => [line, reason])).toEqual([
      [3, 'duplicate'],
      [4, 'duplicate'],
    ]);
  });

  test('all rejected contacts are counted, and twenty shown', async () => {
    const rows = Array.from({ length: 30 }, (_, index) => `n/a,A,${index}`);
    const { contacts, rejected } = await preview(rows, {
      message: '{ Message: Hello }',
      contacts: ', allowEmpty: true, maxInvalid: 100%',
    });
    expect(contacts).toEqual({ read: 30, invalid: 30, duplicate: 0, suppressed: 0 });
    expect(rejected.map(({ line }) => line)).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));
  });
});

test('characters removed around numbers are listed with counts and examples', async () => {
  const rows = [`tel:${number(1)},A,C`, `\u202a＋61${number(2).slice(1)}\u202c,B,C`, `TEL:${number(3)},C,C`];
  const previewed = await preview([...rows, `${number(4)},D,C`, 'tel:none,E,C'], {
    message: '{ Message: Hello }',
  });
  expect(previewed.recipients).toBe(4);
  expect(previewed.removedMarks).toEqual({
    recipients: 3,
    marks: [
      { mark: 'tel:', recipients: 2 },
      { mark: 'U+202A LEFT-TO-RIGHT EMBEDDING', recipients: 1 },
      { mark: 'U+202C POP DIRECTIONAL FORMATTING', recipients: 1 },
    ],
    examples: ['line 2', 'line 3', 'line 4'],
  });
  expect(previewText(previewed)).toContain(
    '  cleaned     3 numbers, of characters that are no part of one: tel: (2), U+202A LEFT-TO-RIGHT EMBEDDING (1), U+202C POP DIRECTIONAL FORMATTING (1); see line 2, line 3, line 4',
  );
});

test('bidi controls in the campaign or in a row are reported', async () => {
  const rows = [`${number(1)},Ann,C`, `${number(2)},B\u202eo,C`, `${number(3)},Cy,D\u2067`];
  const previewed = await preview(rows, { message: '{ Message: "Hi [[name]]", ChargeCode: "[[code]]" }' });
  expect(previewed.bidiControls).toEqual({
    recipients: 2,
    characters: ['U+202E RIGHT-TO-LEFT OVERRIDE', 'U+2067 RIGHT-TO-LEFT ISOLATE'],
    examples: ['line 3', 'line 4'],
  });
  expect(previewText(previewed)).toContain(
    '  warning     2 messages hold characters that turn the direction of text',
  );
  const all = await preview(rows.slice(0, 1), { message: '{ Message: "Hi \u200f" }' });
  expect(all.bidiControls.recipients).toBe(1);
  expect((await preview(rows.slice(0, 1), { message: '{ Message: Hi }' })).bidiControls.recipients).toBe(0);
});

test('nothing is reported of rows that are not sent to', async () => {
  const note = `tel:${number(1)},${'x'.repeat(70)}\u202e,C`;
  const rows = [
    `${number(1)},Ann,C`,
    note,
    note,
    `${number(2)},Bob,C`,
    `tel:${number(3)},🎉${'y'.repeat(70)},C`,
  ];
  const message = '{ Message: "Hi [[name]]", SendTime: "2020-01-01T00:00" }';
  const contacts = ', maxInvalid: 100%';
  await workspace.write('stop.csv', `to\n${number(3)}\n`);
  const found = await preview(rows, { message, contacts: `${contacts}, suppressions: [stop.csv]` });
  expect(found).toMatchObject({
    recipients: 2,
    removedMarks: { recipients: 0, marks: [], examples: [] },
    bidiControls: { recipients: 0, characters: [] },
    partCauses: { parts: 0, groups: [], others: null },
    pastSendTimes: { recipients: 2 },
  });
  const sent = await preview(rows.slice(1, 2), { message, contacts });
  expect(sent).toMatchObject({
    removedMarks: { recipients: 1 },
    bidiControls: { recipients: 1 },
    partCauses: { parts: 1 },
    pastSendTimes: { examples: [{ fileAndLine: 'line 2', sendTime: '2020-01-01T00:00' }] },
  });
});

describe('columns without a mapping', () => {
  const source = `campaign: test
account: sandbox
channel: sms
contacts: { file: contacts.csv, country: AU }
message: { Message: Hello }
`;
  const previewOf = async (campaign: string): Promise<Preview> => {
    await workspace.write('contacts.csv', 'Mobile,first_name,code\n0412000001,Ann,A\n0412000002,Bob,B\n');
    await workspace.write('campaign.yaml', campaign);
    return previewCampaign(await prepareCampaign('campaign.yaml', settingsIn(workspace)), opened.context);
  };

  test('a guessed mapping is shown as guessed', async () => {
    const shown = await previewOf(source.replace('Hello', '"Hi [[First Name]]"'));
    expect(shown.mapping).toEqual([
      { field: 'Recipient', kind: 'guessed', source: 'Mobile' },
      { field: 'First Name', kind: 'guessed', source: 'first_name' },
    ]);
    expect(previewText(shown)).toContain(
      '\n  mapping     Recipient from Mobile (guessed), First Name from first_name (guessed)\n',
    );
  });

  test('a field that the message does not use is not sent, and the preview shows exactly the sent fields', async () => {
    const fieldsOf = async (campaign: string): Promise<string> =>
      /\n {2}fields {6}(.*)\n/.exec(previewText(await previewOf(campaign)))?.[1] ?? '';
    const shown = await previewOf(source);
    expect(shown.mapping).toEqual([{ field: 'Recipient', kind: 'guessed', source: 'Mobile' }]);
    expect(shown.messages.map(({ destination }) => destination)).toEqual([
      { Recipient: '+61412000001' },
      { Recipient: '+61412000002' },
    ]);
    expect(await fieldsOf(source)).toBe('of each recipient: Recipient; of each request: MessageID, Message');
    const more = source
      .replace('Hello', '"Hi [[first_name]]", SubAccount: "[[code]]"')
      .concat('window: { timeZone: UTC, from: "09:00", to: "09:10", hold: service }\n');
    const noon = { ...opened.context, now: () => new Date('2026-11-20T12:00:00Z') };
    await workspace.write('campaign.yaml', more);
    const held = await previewCampaign(await prepareCampaign('campaign.yaml', settingsIn(workspace)), noon);
    expect(held.sentFields).toEqual({
      recipient: ['Recipient', 'First Name'],
      request: ['MessageID', 'SendTime', 'TimeZone', 'SubAccount', 'Message'],
    });
  });

  test('unmapped columns are shown beside mapped ones', async () => {
    const columns =
      'columns: { Attention: "[[first_name]] [[code]]", Company: { value: Example }, Custom1: code }';
    expect(previewText(await previewOf(source.replace('AU', `AU, ${columns}`)))).toContain(
      '  mapping     Recipient from Mobile (guessed), Attention from "[[first_name]] [[code]]", Company is "Example", Custom1 from code\n',
    );
  });

  test('rows that contacts.where excludes are counted, but not as read', async () => {
    expect(await previewOf(source)).toMatchObject({ filtered: null });
    const shown = await previewOf(source.replace('AU', 'AU, where: [{ column: code, equals: B }]'));
    expect(shown).toMatchObject({ filtered: 1, contacts: { read: 1 }, recipients: 1 });
    expect(previewText(shown)).toContain('0 suppressed; 1 more excluded by contacts.where\n');
  });
});

describe('messages in a preview', () => {
  const rows = ['Ann', 'Bob', 'Cy', 'Di'].map((name, index) => `${number(index)},${name},C`);

  test('the first three messages are shown as sent and as received', async () => {
    const { messages, merge } = await preview(rows, {
      message: '{ Message: "Hi [[name]] [[STOP]]", ChargeCode: "[[code]]" }',
    });
    expect(merge.kind).toBe('service');
    expect(messages).toEqual(
      ['Ann', 'Bob', 'Cy'].map((name, index) => ({
        file: 'contacts.csv',
        line: index + 2,
        variant: null,
        destination: { Recipient: `+61${number(index).slice(1)}`, Custom1: name },
        ...anEnvelope({ Message: 'Hi [[Custom1]] [[STOP]]', ChargeCode: 'C' }),
        text: `Hi ${name} [[STOP]]`,
      })),
    );
  });

  test('messages have no merged text in channels where the service does not merge', async () => {
    const { messages, smsParts } = await preview(['a@example.com,Ann,C'], {
      channel: 'email',
      message: '{ EmailSubject: Hi, MessagePlain: "Hi [[name]]" }',
    });
    expect(smsParts).toBeNull();
    expect(messages).toMatchObject([{ fields: { EmailSubject: 'Hi', MessagePlain: 'Hi Ann' }, text: null }]);
  });
});

test('SMS parts are counted from the received text: 160 and 153 characters, or 70 and 67', async () => {
  const texts = [
    'x'.repeat(160),
    'x'.repeat(161),
    '€'.repeat(80),
    'ж'.repeat(70),
    'ж'.repeat(71),
    'x'.repeat(307),
  ];
  const parts = [1, 2, 1, 1, 2, 3];
  for (const [index, text] of texts.entries()) {
    const { smsParts } = await preview([`${number(1)},${text},C`], { message: '{ Message: "[[name]]" }' });
    expect(smsParts).toBe(parts[index]);
  }
});

describe('the cost of a campaign with rates', () => {
  const rates = `    rates:
      - { channel: sms, unit: part, price: 0.085, currency: NZD }
      - { channel: fax, unit: page, price: 1, currency: NZD }
`;
  beforeAll(() => workspace.write('accounts.yaml', accountsYaml + rates));
  afterAll(() => workspace.write('accounts.yaml', accountsYaml));

  const message = `{ Message: "${'x'.repeat(160)}[[name]]", SubAccount: "[[code]]" }`;
  const rows = [
    `${number(1)},,A`,
    `${number(2)},x,A`,
    `${number(3)},,B`,
    `${number(4)},,`,
    // Not sent, not paid.
    `${number(1)},x,A`,
    'n/a,x,B',
  ];

  test('the cost covers the SMS parts of all recipients, by SubAccount and ChargeCode', async () => {
    const previewed = await preview(rows, { message });
    expect(previewed.cost).toEqual({
      kind: 'known',
      currency: 'NZD',
      unit: 'part',
      lines: [
        { subAccount: 'A', chargeCode: null, recipients: 2, units: 3, cost: '0.255' },
        { subAccount: 'B', chargeCode: null, recipients: 1, units: 1, cost: '0.085' },
        { subAccount: null, chargeCode: null, recipients: 1, units: 1, cost: '0.085' },
      ],
      total: '0.425',
      tax: null,
    });
    expect(previewText(previewed)).toContain(`
  cost        0.425 NZD, estimated by the rates of the account

Estimated cost
┌────────────┬────────────┬────────────┬───────┬───────┐
│ SubAccount │ ChargeCode │ Recipients │ Parts │   NZD │
├────────────┼────────────┼────────────┼───────┼───────┤
│ A          │ (none)     │          2 │     3 │ 0.255 │
│ B          │ (none)     │          1 │     1 │ 0.085 │
│ (none)     │ (none)     │          1 │     1 │ 0.085 │
│            │            │            │       │       │
│ Total      │            │          4 │     5 │ 0.425 │
└────────────┴────────────┴────────────┴───────┴───────┘
`);
  });

  test('the twenty most expensive lines are shown, and the total covers all', async () => {
    const many = Array.from(
      { length: 25 },
      (_, index) => `${number(index)},${'x'.repeat(index * 160)},C${index}`,
    );
    const text = previewText(await preview(many, { message }));
    expect(text).toContain('Estimated cost (the dearest 20 of 25; the total is of all)\n');
    expect(text).toMatch(/├[─┼]+┤\n│ C24 /);
    expect(text).toContain('│ C5 ');
    expect(text).not.toContain('│ C4 ');
    expect(text).toMatch(/│ Total {6}│ {12}│ {9}25 │/);
  });

  test('the cost is one figure without SubAccounts and ChargeCodes', async () => {
    const text = previewText(await preview(rows, { message: '{ Message: Hello }' }));
    expect(text).toContain('  cost        0.340 NZD, estimated by the rates of the account\n');
    expect(text).not.toContain('Estimated cost');
  });

  test('the cost of a fax is unknown before sending', async () => {
    const fax = await preview(['0291234567,Ann,A'], { channel: 'fax', message: '{ Message: Hello }' });
    expect(previewText(fax)).toContain(
      '  cost        not known: fax is paid by the page, and how many there are is known only after sending\n',
    );
  });

  test('a cost over the budget stops the preview', async () => {
    const budget = (limit: string) => ({ message, more: `budget: { subAccounts: { A: ${limit} } }` });
    await preview(rows, budget('0.255'));
    expect(await problemsRejected(() => preview(rows, budget('0.25')))).toEqual([
      'campaign.yaml:7:29: The budget of SubAccount "A" is 0.25 NZD; this plan would cost 0.255 NZD.',
    ]);
  });
});

test('without a rate the cost is unknown, and a budget cannot be checked', async () => {
  const previewed = await preview([`${number(1)},A,C`], { message: '{ Message: Hello }' });
  expect(previewed.cost).toEqual({ kind: 'unknown', why: 'the account has no rate for sms' });
  const parts = { message: '{ Message: Hello }', more: 'budget: { campaign: 5 }' };
  expect(await problemsRejected(() => preview([], parts))).toEqual([
    'campaign.yaml:7:9: A budget needs an estimated cost, and there is none: the account has no rate for sms. Add it to its "rates", or remove "budget".',
  ]);
});

test('memory does not grow with the length of the messages', async () => {
  const prepared = await prepare([], {
    channel: 'email',
    message: '{ EmailSubject: Hi, MessagePlain: "[[name]]" }',
  });
  const before = liveHeap();
  let atTheEnd = 0;
  const contacts: PreparedCampaign['contacts'] = (async function* (): AsyncGenerator<readonly Contact[]> {
    for (let index = 0; index < 3_000; index++) {
      const envelope = anEnvelope({ MessagePlain: `${index} ${'x'.repeat(10_000)}` });
      const address = `${index}@example.com`;
      const location = { file: 0, line: index };
      yield [{ kind: 'contact', ...location, address, originalAddress: address, envelope, destination: {} }];
    }
    atTheEnd = liveHeap();
  })();
  const { envelopes } = await previewCampaign({ ...prepared, contacts }, opened.context);
  expect(envelopes).toBe(3_000);
  // All texts together have 30 MB.
  expect(atTheEnd - before).toBeLessThan(10 * 1024 * 1024);
});
