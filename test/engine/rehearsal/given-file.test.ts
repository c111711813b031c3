import { expect, test } from 'vitest';
import { loadGiven, requireDestinations } from '../../../src/engine/rehearsal/given-file.ts';
import { chooseService } from '../../../src/engine/rehearsal/service.ts';
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
  const former = { answerAfter: 80, rejected: 0.5 };
  const service = chooseService([
    ['given', value],
    ['former runs', former],
  ]);
  expect(service).toEqual({
    answerAfter: { value: 80, source: 'former runs' },
    rejected: { value: 0.02, source: 'given' },
    unknown: { value: 0, source: 'assumed' },
    unreported: { value: 0.01, source: 'assumed' },
    undelivered: { value: 0.05, source: 'given' },
    reportAfter: { value: { half: 3_000, most: 120_000 }, source: 'given' },
  });
});

test.each([
  ['answerAfter: 1d\n', 'given.yaml:1:14', 'expected at most 10m'],
  ['undelivered: most\n', 'given.yaml:1:14', 'expected a share from 0% to 100%'],
  ['reportAfter: { half: 2m, most: 1m }\n', 'given.yaml:1:32', 'at least as long as "half"'],
  ['undelivred: 90%\n', 'given.yaml:1:1', 'Did you mean "undelivered"?'],
  ['', 'given.yaml:1:1', 'The file is empty; expected a key with its value.'],
])('a mistake is refused with its place: %j', async (text, where, what) => {
  expect(await problemsRejected(() => load(text))).toEqual([
    expect.stringMatching(new RegExp(`^${where}: .*${what}`)),
  ]);
});

test('a destination that the run does not have is refused with its place', async () => {
  const given = await load('destinations:\n  - { destination: "+61499", undelivered: 50% }\n');
  expect(problemsThrown(() => requireDestinations(given, ['+61412', '']))).toEqual([
    'given.yaml:2:20: The run has no destination "+61499" with at least 50 recipients. Its destinations: +61412.',
  ]);
});
