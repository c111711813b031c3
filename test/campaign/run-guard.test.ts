import { expect, test } from 'vitest';
import { campaignWarnings, readCampaign } from '../../src/campaign/campaign.ts';
import { checkGuard } from '../../src/campaign/watch-warnings.ts';
import { guardOf } from '../../src/engine/watch/guard.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const source = (guard: string, more = ''): string => `campaign: c
account: main
channel: sms
contacts: { file: a.csv }
message: { Message: Hi }
guard: ${guard}
${more}`;

const read = (guard: string, more = '') => readCampaign(source(guard, more), 'c.yaml');
const problems = (guard: string): string[] => problemsThrown(() => read(guard));
const now = new Date('2026-11-27T00:00:00Z');

test.each([
  ['pause', { undelivered: { usual: true }, action: 'pause' }],
  ['warn', { undelivered: { usual: true }, action: 'warn' }],
  ['{ undelivered: { or: usual } }', { undelivered: { usual: true }, action: 'pause' }],
  ['{ undelivered: { above: 5% } }', { undelivered: { above: 0.05, usual: false }, action: 'pause' }],
  [
    '{ undelivered: { above: 5%, or: usual }, silence: 20m, price: rate card, rejected: 2%, unknown: 1%, action: warn }',
    {
      undelivered: { above: 0.05, usual: true },
      silence: 1_200_000,
      price: 'rate card',
      rejected: 0.02,
      unknown: 0.01,
      action: 'warn',
    },
  ],
])('the guard %s is read, and is the same as frozen in a run', (written, guard) => {
  const { value } = read(written);
  expect(value.guard).toEqual(guard);
  expect(guardOf(JSON.parse(JSON.stringify(value)))).toEqual({ ...guard, first: 20 });
});

test('rejected and unknown requests count from as many as failFast sends first, and without a guard there is none', () => {
  expect(
    guardOf({ dispatch: { failFast: { first: 5 } }, guard: { rejected: 0.1, action: 'pause' } })?.first,
  ).toBe(5);
  expect(guardOf({ dispatch: { failFast: { first: 5 } } })).toBeUndefined();
  expect(guardOf({})).toBeUndefined();
});

test.each([
  ['paus', 'c.yaml:6:8: "guard": expected pause or warn, which are of undelivered: { or: usual }, or'],
  ['{}', 'c.yaml:6:8: "guard": expected undelivered, silence, price, rejected or unknown'],
  ['{ action: warn }', 'c.yaml:6:8: "guard": expected undelivered, silence, price, rejected or unknown'],
  [
    '{ rejected: 200% }',
    'c.yaml:6:20: "guard.rejected": expected a share from 0% to 100%, such as 5%, got "200%".',
  ],
  [
    '{ unknown: 95% }',
    'c.yaml:6:19: "guard.unknown": expected a share of at most 90%, such as 5%, got "95%".',
  ],
  [
    '{ undelivered: { above: 101% } }',
    'c.yaml:6:32: "guard.undelivered.above": expected a share from 0% to 100%',
  ],
  ['{ undelivered: 5% }', 'c.yaml:6:23: "guard.undelivered": expected { above: 5% }, { or: usual } or both'],
  ['{ undelivered: { or: normal } }', 'c.yaml:6:29: "guard.undelivered.or": expected usual, got "normal".'],
  ['{ undelivered: {} }', 'c.yaml:6:23: "guard.undelivered": expected above, or, or both'],
  ['{ silence: 0s }', 'c.yaml:6:19: "guard.silence": expected more than 0s'],
  ['{ silence: soon }', 'c.yaml:6:19: "guard.silence": expected a duration such as 500ms'],
  ['{ price: cheap }', 'c.yaml:6:17: "guard.price": expected rate card, got "cheap".'],
  ['{ silence: 20m, prise: rate card }', 'Did you mean "price"?'],
])('the guard %s is refused with its line', (written, problem) => {
  expect(problems(written)).toEqual([expect.stringContaining(problem)]);
});

test('prices without a rate card for the channel are refused', () => {
  const campaign = read('{ price: rate card }');
  const what = `c.yaml:6:17: "guard.price": account "main" has no "rates" for sms, so no price can be compared.`;
  expect(problemsThrown(() => checkGuard(campaign, null))).toEqual([what]);
  checkGuard(campaign, { currency: 'AUD', tariffs: [[]] });
  checkGuard(read('{ silence: 20m }'), null);
});

test('missing reports of messages that the service holds are warned of', () => {
  const held = read(
    '{ silence: 20m }',
    'timeZone: UTC\nwindow: { from: "09:00", to: "12:00", hold: service }\n',
  );
  const warnings = (bringsReports: boolean) =>
    campaignWarnings(held, { bringsReports }, now).map(({ where, what }) => `${where}: ${what}`);
  expect(warnings(true)).toEqual([
    'c.yaml:6:19: "guard.silence": the service sends at the SendTime of a request, so the run pauses unless reports come soon after its acceptance',
  ]);
  expect(warnings(false)).toHaveLength(1);
});

test('what needs delivery reports that nothing brings is warned of', () => {
  const guard = read('{ undelivered: { above: 5% }, silence: 20m, rejected: 2% }');
  const warnings = (bringsReports: boolean) => campaignWarnings(guard, { bringsReports }, now);
  const because = 'account "main" has neither a webhook nor a status look-up that brings delivery reports';
  expect(warnings(false)).toEqual([
    { where: 'c.yaml:6:23', what: `"guard.undelivered": ${because}, so it finds nothing` },
    { where: 'c.yaml:6:47', what: `"guard.silence": ${because}, so it stops every run` },
  ]);
  expect(warnings(true)).toEqual([]);
  expect(campaignWarnings(read('warn'), { bringsReports: false }, now)).toMatchObject([
    { where: expect.stringMatching(/^c\.yaml:6:/) },
  ]);
});
