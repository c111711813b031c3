import { describe, expect, test } from 'vitest';
import { campaignWarnings, readCampaign } from '../../src/campaign/campaign.ts';
import { withCanaryLimits } from '../../src/campaign/watch-warnings.ts';
import { canaryOf } from '../../src/engine/watch/canary.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const source = (canary: string, more = ''): string => `campaign: c
account: main
channel: sms
contacts: { file: a.csv }
message: { Message: Hi }
canary: ${canary}
${more}`;

const read = (canary: string, more = '') => readCampaign(source(canary, more), 'c.yaml');
const problems = (canary: string): string[] => problemsThrown(() => read(canary));

test('a canary is 2% of the recipients, observed for half an hour and promoted by itself, unless the campaign says otherwise', () => {
  const byDefault = {
    recipients: { kind: 'share', share: 0.02 },
    observe: 1_800_000,
    promote: 'auto',
    abort: { rejected: 0.02 },
  };
  expect(read('{}').value.canary).toEqual(byDefault);
  expect(withCanaryLimits(read('{}').value, { bringsReports: true }).canary).toEqual({
    ...byDefault,
    abort: { rejected: 0.02, undelivered: 0.1, unreported: 0.5 },
  });
  expect(withCanaryLimits(read('{}').value, { bringsReports: false }).canary).toEqual(byDefault);
  expect(
    read('{ recipients: 500, observe: 2h, promote: manual, abort: { rejected: 0%, undelivered: 5% } }').value
      .canary,
  ).toEqual({
    recipients: { kind: 'number', recipients: 500 },
    observe: 7_200_000,
    promote: 'manual',
    abort: { rejected: 0, undelivered: 0.05 },
  });
});

test('a run reads its canary from its definition, as it was planned', () => {
  const { value } = read('{ recipients: 3% }');
  expect(canaryOf(JSON.parse(JSON.stringify(value)))).toEqual(value.canary);
  expect(canaryOf({})).toBeUndefined();
});

test.each([
  [
    '{ recipients: 0% }',
    'c.yaml:6:23: "canary.recipients": expected a share above 0%, such as 2%, or a number of recipients, such as 500, got "0%".',
  ],
  ['{ recipients: 120% }', 'expected a share above 0%'],
  ['{ recipients: 0 }', 'expected a share above 0%'],
  [
    '{ observe: soon }',
    'c.yaml:6:20: "canary.observe": expected a duration such as 500ms, 5s, 2m, 2h or 7d, got "soon".',
  ],
  ['{ observe: 90d }', 'expected a duration from 1s to 30d, such as 30m'],
  ['{ promote: later }', 'c.yaml:6:20: "canary.promote":'],
  ['{ abort: { undelivered: 120% } }', 'expected a share from 0% to 100%, such as 5%'],
  ['{ abort: { bounced: 2% } }', 'bounced'],
])('canary: %s is refused with its place', (written, problem) => {
  expect(problems(written)).toEqual([expect.stringContaining(problem)]);
});

describe('a warning about a canary', () => {
  const now = new Date('2026-11-27T08:00Z');
  const warnings = (canary: string, more = '', bringsReports = true): string[] =>
    campaignWarnings(read(canary, more), { bringsReports }, now).map(
      ({ where, what }) => `${where}: ${what}`,
    );

  test('says which limits nothing is compared with, because no delivery reports come', () => {
    expect(warnings('{ abort: { undelivered: 5%, unreported: 50% } }', '', false)).toEqual([
      'c.yaml:6:33: "canary.abort.undelivered": account "main" has neither a webhook nor a status look-up that brings delivery reports, so it never holds',
      'c.yaml:6:49: "canary.abort.unreported": account "main" has neither a webhook nor a status look-up that brings delivery reports, so the run always pauses',
    ]);
    expect(warnings('{}', '', false)).toEqual([]);
  });

  test('says that the time of observation is longer than the window, or goes beyond the deadline', () => {
    const window = 'timeZone: UTC\nwindow: { from: "09:00", to: "12:00" }\n';
    expect(warnings('{ observe: 3h }', window)).toEqual([
      'c.yaml:6:20: "canary.observe": 3h is longer than the window is open, so the rest waits until it opens again',
    ]);
    expect(warnings('{ observe: 2h }', window)).toEqual([]);
    expect(warnings('{ observe: 2h }', 'timeZone: UTC\ndeadline: "09:30"\n')).toEqual([
      'c.yaml:6:20: "canary.observe": 2h goes beyond the deadline, so the rest would be late',
    ]);
    expect(warnings('{ observe: 1h }', 'timeZone: UTC\ndeadline: "09:30"\n')).toEqual([]);
  });

  test('says that the reports of messages that the service holds come later', () => {
    const window = 'timeZone: UTC\nwindow: { from: "09:00", to: "12:00", hold: service }\n';
    expect(warnings('{ observe: 1h }', window)).toEqual([
      'c.yaml:6:20: "canary.observe": the service sends at the SendTime of a request, so delivery reports may come after the time of observation',
    ]);
  });
});
