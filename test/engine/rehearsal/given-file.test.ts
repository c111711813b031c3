import { expect, test } from 'vitest';
import { loadGiven, requireDestinations } from '../../../src/engine/rehearsal/given-file.ts';
import { chooseModel, delaysOf, withShares } from '../../../src/engine/rehearsal/service-model.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { problemsRejected, problemsThrown } from '../../support/thrown-problems.ts';
import { settingsIn } from '../../support/workspace.ts';

const workspace = testWorkspace({});

async function load(text: string) {
  await workspace.write('given.yaml', text);
  return loadGiven('given.yaml', settingsIn(workspace));
}

test('a file says what the service would do, and former runs or an assumption say the rest', async () => {
  const { value } = await load('rejected: 2%\nundelivered: 5%\nreportAfter: { half: 3s, most: 2m }\n');
  const { model, sources } = chooseModel(value, { known: { answerAfter: 80 }, bringsReports: true });
  expect(model).toMatchObject({ answerAfter: 80, rejected: 0.02, unknown: 0 });
  expect(model.reports.undelivered).toBe(0.05);
  expect(model.reports.delivered).toBeCloseTo(0.94);
  expect(sources).toEqual({
    answerAfter: 'former runs',
    rejected: 'given',
    unknown: 'assumed',
    reports: 'given',
    reportDelays: 'given',
  });
});

test('an account without a webhook and a look-up brings no report', () => {
  const { model, sources } = chooseModel(undefined, { bringsReports: false });
  expect(model.reports).toEqual({ delivered: 0, undelivered: 0 });
  expect(sources.reports).toBe('account');
});

test('as many recipients as usual get no report, unless both shares are given', () => {
  const usual = { delivered: 0.97, undelivered: 0.02 };
  expect(withShares(usual, {})).toBe(usual);
  expect(withShares(usual, { delivered: 0.6 }).undelivered).toBeCloseTo(0.39);
  expect(withShares(usual, { undelivered: 0.5 }).delivered).toBeCloseTo(0.49);
  expect(withShares(usual, { delivered: 0.6, undelivered: 0.1 })).toEqual({
    delivered: 0.6,
    undelivered: 0.1,
  });
});

test('half of the reports come within "half", and nearly all within "most"', () => {
  const delays = delaysOf({ half: 4_000, most: 60_000 });
  expect(delays).toHaveLength(10);
  expect(delays.filter((delay) => delay <= 4_000)).toHaveLength(5);
  expect(delays.at(-1)).toBe(60_000);
});

test.each([
  [
    'delivered: 90%\nundelivered: 20%\n',
    'given.yaml:2:14',
    'expected at most 100% together with "delivered"',
  ],
  [
    'destinations: [{ destination: "+61412", delivered: 60%, undelivered: 50% }]\n',
    'given.yaml:1:70',
    'expected at most 100% together with "delivered"',
  ],
  ['reportAfter: { half: 2m, most: 1m }\n', 'given.yaml:1:32', 'at least as long as "half"'],
  ['deliverd: 90%\n', 'given.yaml:1:1', 'Did you mean "delivered"?'],
])('a mistake is refused with its place: %j', async (text, where, what) => {
  expect(await problemsRejected(() => load(text))).toEqual([
    expect.stringMatching(new RegExp(`^${where}: .*${what}`)),
  ]);
});

test('a destination that the run does not have is refused with its place', async () => {
  const given = await load('destinations:\n  - { destination: "+61499", delivered: 50% }\n');
  expect(problemsThrown(() => requireDestinations(given, ['+61412', '']))).toEqual([
    'given.yaml:2:20: The run has no destination "+61499" with at least 50 recipients. Its destinations: +61412.',
  ]);
});
