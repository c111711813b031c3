import { expect, test } from 'vitest';
import { volleyInProcess as volley } from '../support/volley.ts';

async function usageError(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await volley(words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return stderr.trimEnd().split('\n');
}

test('a missing argument is reported with its description and the usage of the command', async () => {
  expect(await usageError('run')).toEqual([
    '<campaign> is missing: the campaign file (YAML). A plan file is named with --plan, and `volley rerun <run>` sends again to recipients of a run.',
    'Usage: volley run [options] [campaign]',
    '(see volley run --help)',
  ]);
  expect(await usageError('report', 'run')).toEqual([
    expect.stringMatching(/^<run> is missing/),
    'Usage: volley report run [options] <run>',
    '(see volley report run --help)',
  ]);
});

test('an unknown log level is refused before the command starts', async () => {
  const { code, stderr } = await volley(['runs'], { env: { LOG_LEVEL: 'inf' } });
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr:
      'LOG_LEVEL: Expected fatal, error, warn, info, debug, trace or silent, got "inf". Did you mean "info"?\n',
  });
});

test('too many arguments and a missing required option are reported with the usage of the command', async () => {
  expect(await usageError('plan', 'a.yaml', 'b.yaml')).toEqual([
    'volley plan takes 1 argument, got 2: a.yaml, b.yaml.',
    'Usage: volley plan [options] <campaign>',
    '(see volley plan --help)',
  ]);
  expect((await usageError('suppress', 'add', '+64211234567'))[0]).toMatch(
    /^--channel <channel...> is missing: .+ \(email, sms, fax, voice or tts\)\.$/,
  );
});

test.each([
  [['run', ''], '<campaign>'],
  [['cancel', '', '--reason', 'wrong list'], '<run>'],
  [['run', 'a.yaml', '--contacts', 'b.csv', '--contacts', ''], '--contacts <file>'],
  [['run', '--plan='], '--plan <file>'],
  [['suppress', 'add', '--channel', 'sms', '--reason', 'opted out', '+64211234567', ''], '<address>'],
  [['billing', 'report', '--account', ''], '--account <name...>'],
])('volley %j is refused, because a variable of a script may not be set', async (words, name) => {
  expect((await usageError(...words))[0]).toBe(`${name} is empty. Is a variable of the shell not set?`);
});

test.each(['--fail-rate', '--undelivered-rate', '--reply-rate'])(
  '%s 2 of the sandbox is refused',
  async (name) => {
    expect((await usageError('sandbox', name, '2'))[0]).toBe(
      `${name} <share>: expected a share from 0 to 1, such as 0.05, got "2".`,
    );
  },
);

test('a time of the past that cannot be read is answered with every form of it', async () => {
  expect((await usageError('tail', '--since', 'tomorrow'))[0]).toBe(
    '--since <time>: expected a time before now, such as 15m, or a time in UTC, such as 2026-11-21 or 2026-11-21T08:00:00Z, got "tomorrow".',
  );
});

test.each([
  [['rum', 'a.yaml'], 'There is no command "rum". Did you mean "run"?'],
  [['billing', 'reprot'], 'There is no command "reprot". Did you mean "report"?'],
  [['run', 'a.yaml', '--jsn'], 'There is no option --jsn. Did you mean "--json"?'],
  [['runs', '--colour', 'never'], 'There is no option --colour. Did you mean "--color"?'],
  [
    ['runs', '--color', 'alway'],
    '--color <when>: expected auto, always or never, got "alway". Did you mean "always"?',
  ],
  [['billing', 'report', '--format', 'cvs'], '--format <format>: expected table, csv, '],
  [
    ['schema', 'campain'],
    'kind: expected campaign, accounts, rehearsal or api, got "campain". Did you mean "campaign"?',
  ],
  [['rerun', 'latest', '--state', 'faild'], '--state <state...>: expected '],
  [['sandbox', '--port', '99999'], '--port <number>: expected a port from 0 to 65535, got "99999".'],
  [
    ['sandbox', '--latency', '5x'],
    '--latency <duration>: expected a duration such as 500ms, 5s, 2m, 2h or 7d, got "5x".',
  ],
  [
    ['report', 'run', 'x', '--time-zone', 'Auckland'],
    '--time-zone <zone>: expected a time zone such as Pacific/Auckland or UTC, got "Auckland". Did you mean "Pacific/Auckland"?',
  ],
  [
    ['report', 'recipient', 'x', '--country', 'Australa'],
    '--country <country>: expected a country with phone numbers, such as NZ, got "Australa". Did you mean "AU" (Australia)?',
  ],
  [
    ['billing', 'report', '--json', '--format', 'csv'],
    '--json and --format <format> exclude each other. Use one of them.',
  ],
  [['runs', '--limit'], 'a value is missing.'],
])("the mistake %j is explained in Volley's own words", async (words, what) => {
  const [said, ...rest] = await usageError(...words);
  expect(said).toContain(what);
  expect(said).not.toMatch(/^error|argument '|Allowed choices|required option/);
  expect(rest.join()).toMatch(/--help/);
});
