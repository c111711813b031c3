import { describe, expect, test } from 'vitest';
import { campaignWarnings, checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import { composeVariants } from '../../src/campaign/compose-variants.ts';
import { assignByHash, assignForTest, sentVariants } from '../../src/campaign/variants.ts';
import { InputError } from '../../src/domain/problems.ts';
import { current } from './parts.ts';

const yaml = (variants: string, more = ''): string => `campaign: night
account: main
channel: sms
contacts: { file: contacts.csv, columns: { Recipient: to } }
message: { Message: "Hi" }
variants:
${variants}
${more}`;

const read = (variants: string, more = '') => readCampaign(yaml(variants, more), 'c.yaml');

/** The problems that a check of the campaign finds. */
function problems(variants: string, more = ''): string[] {
  try {
    checkCampaign(read(variants, more), current);
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.problems.map(({ where, what }) => `${where}: ${what}`);
  }
}

const two = `  - { name: short, share: 60% }
  - { name: long, share: 40%, message: { Message: "Hi [[name]], how are you?" } }`;
const withControl = `  - { name: short, share: 50% }
  - { name: long, share: 40%, message: { Message: "Hi [[name]], how are you?" } }
  - { name: control, share: 10%, send: nothing }`;
const part = `  - { name: short, share: 10% }
  - { name: long, share: 10%, message: { Message: "Hi [[name]], how are you?" } }`;

const contacts = Array.from({ length: 20_000 }, (_, index) => `+614${String(index).padStart(8, '0')}`);

function countsOf(assign: ReturnType<typeof assignByHash>): readonly number[] {
  const counts = [0, 0, 0, 0];
  for (const contact of contacts) {
    const number = assign?.(contact) ?? 0;
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return counts;
}

describe('assignByHash', () => {
  test('each variant gets its share', () => {
    const [rest = 0, short = 0, long = 0, control = 0] = countsOf(assignByHash(read(withControl).value));
    expect(rest).toBe(0);
    expect(short / contacts.length).toBeCloseTo(0.5, 1.5);
    expect(long / contacts.length).toBeCloseTo(0.4, 1.5);
    expect(control / contacts.length).toBeCloseTo(0.1, 1.5);
  });

  test('a contact has the same variant when the texts change, and in another order of contacts', () => {
    const [first, second] = [read(withControl), read(withControl.replace('how are you', 'what is new'))];
    const before = contacts.map((contact) => assignByHash(first.value)?.(contact));
    const after = contacts.toReversed().map((contact) => assignByHash(second.value)?.(contact));
    expect(after.toReversed()).toEqual(before);
  });

  test('another campaign divides the same contacts in another way', () => {
    const { value } = read(two);
    const other = assignByHash({ ...value, campaign: 'morning' });
    const same = contacts.filter((contact) => assignByHash(value)?.(contact) === other?.(contact));
    expect(same.length / contacts.length).toBeCloseTo(0.52, 1);
  });

  test('with `until`, those beyond the shares wait, and later get the winner without the control group', () => {
    const { value } = read(`${part}\n  - { name: control, share: 10%, send: nothing }`, 'until: winner');
    const [rest = 0] = countsOf(assignByHash(value));
    expect(rest / contacts.length).toBeCloseTo(0.7, 1);
    const [none, first, second = 0, control] = countsOf(assignByHash(value, 2));
    expect([none, first]).toEqual([0, 0]);
    expect(second).toBe(contacts.length - (control ?? 0));
    expect(control).toBe(countsOf(assignByHash(value))[3]);
  });

  test('a campaign without variants assigns nothing', () => {
    expect(assignByHash({ campaign: 'night' })).toBeUndefined();
  });
});

describe('assignForTest', () => {
  test('a test assigns the variants that are sent in turn', () => {
    const assign = assignForTest(read(withControl), false);
    expect(contacts.slice(0, 5).map((contact) => assign?.(contact))).toEqual([1, 2, 1, 2, 1]);
  });

  test('a row that was chosen has its own variant, and the first one if it would get nothing', () => {
    const campaign = read(withControl);
    const [assign, own] = [assignForTest(campaign, true), assignByHash(campaign.value)];
    for (const contact of contacts.slice(0, 100))
      expect(assign?.(contact)).toBe(own?.(contact) === 3 ? 1 : own?.(contact));
  });
});

describe('sentVariants', () => {
  test('a variant is the campaign with its own keys of the message, and finds them in the file', () => {
    const [short, long, ...others] = sentVariants(read(withControl));
    expect(others).toEqual([]);
    expect(short?.campaign.value.message).toEqual({ Message: 'Hi' });
    expect(long?.campaign.value.message).toEqual({ Message: 'Hi [[name]], how are you?' });
    expect(short?.campaign.locate(['message', 'Message'])).toMatch(/^c\.yaml:5:/);
    expect(long?.campaign.locate(['message', 'Message'])).toMatch(/^c\.yaml:8:/);
  });

  test('a contact of the rest has the messages of all variants, and a contact file needs the columns of all', () => {
    const { composition, messagesOf } = composeVariants(read(part, 'until: winner'), current, ['to', 'name']);
    expect(messagesOf(0)).toHaveLength(2);
    expect(messagesOf(2)).toHaveLength(1);
    expect(composition.requiredColumns).toEqual(['to', 'name']);
  });

  test('a placeholder that only a variant has is checked, and its line is named', () => {
    expect(() => composeVariants(read(two), current, ['to'])).toThrow(
      /c\.yaml:8:\d+: Unknown placeholder \[\[name\]\]/,
    );
  });
});

describe('a check of variants', () => {
  test.each([
    ['two that add up', two, ''],
    ['with a control group', withControl, ''],
    ['a part, until one wins', part, 'until: winner'],
    ['the same with all settings', part, 'until: { by: optedOut, observe: 2d, otherwise: ask }'],
  ])('%s is valid', (_, variants, more) => {
    expect(problems(variants, more)).toEqual([]);
  });

  test.each([
    [
      'shares that do not add up',
      part,
      '',
      'c.yaml:7:3: The shares of "variants" add up to 20%; expected 100%.',
    ],
    [
      'shares without a rest for the winner',
      two,
      'until: winner',
      'c.yaml:7:3: The shares of "variants" add up to 100%; with "until", expected less than 100%: the rest gets the winner.',
    ],
    [
      'a share of nothing',
      two.replace('60%', '0%').replace('40%', '100%'),
      '',
      'c.yaml:7:27: "short": expected a share above 0%.',
    ],
    [
      'the same name twice',
      two.replace('name: long', 'name: short'),
      '',
      'c.yaml:8:13: "short" is the name of another variant too.',
    ],
    [
      'a variant that changes nothing',
      `  - { name: short, share: 50% }\n  - { name: long, share: 50%, message: { Message: "Hi" } }`,
      '',
      'c.yaml:8:40: "long" has the same message as "short", so it changes nothing.',
    ],
    [
      'a key that the channel does not have',
      two.replace('{ Message: "Hi [[name]], how are you?" }', '{ EmailSubject: News }'),
      '',
      expect.stringMatching(/^c\.yaml:8:\d+: "message\.EmailSubject": not a field of sms/),
    ],
    [
      'two control groups',
      `  - { name: a, share: 50% }\n  - { name: b, share: 25%, send: nothing }\n  - { name: c, share: 25%, send: nothing }`,
      '',
      'c.yaml:9:34: "c": "b" is the control group already.',
    ],
    [
      'a winner among one',
      `  - { name: a, share: 20% }\n  - { name: b, share: 20%, send: nothing }`,
      'until: winner',
      'c.yaml:7:3: "variants": expected at least two that are sent, because of "until".',
    ],
  ])('%s is refused with its line', (_, variants, more, problem) => {
    expect(problems(variants, more)).toContainEqual(problem);
  });

  test('a campaign has at most five variants', () => {
    const six = Array.from({ length: 6 }, (_, index) => `  - { name: v${index}, share: 10% }`).join('\n');
    expect(() => read(six)).toThrow(/expected 2 to 5 variants/);
  });

  test('a control group has no message', () => {
    const faulty = `  - { name: a, share: 50% }\n  - { name: b, share: 50%, send: nothing, message: { Message: Hi } }`;
    expect(() => read(faulty)).toThrow(/expected none: a control group gets nothing/);
  });

  test('`until` needs variants', () => {
    const source = yaml('', 'until: winner').replace('variants:\n', '');
    expect(() => checkCampaign(readCampaign(source, 'c.yaml'), current)).toThrow(
      /"until": expected "variants"/,
    );
  });
});

test('an observation of variants beyond the deadline or the window is warned of', () => {
  const warnings = (more: string) =>
    campaignWarnings(
      read(part, `until: { observe: 3h }\ntimeZone: UTC\n${more}`),
      { bringsReports: true },
      new Date('2026-11-27T08:00Z'),
    ).map(({ what }) => what);
  expect(warnings('deadline: "09:30"')).toEqual([
    '"until.observe": 3h goes beyond the deadline, so the rest would be late',
  ]);
  expect(warnings('window: { from: "09:00", to: "12:00" }')).toEqual([
    '"until.observe": 3h is longer than the window is open, so the rest waits until it opens again',
  ]);
  expect(warnings('')).toEqual([]);
});
