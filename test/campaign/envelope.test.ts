import { describe, expect, test } from 'vitest';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import { staticFiles } from '../../src/campaign/files.ts';
import { problemsThrown } from '../support/thrown-problems.ts';
import { composed, current, earlier, type Parts, personalised, yaml } from './parts.ts';

const problems = (parts: Parts) => problemsThrown(() => composed(parts));

/** Values that would walk from the folder the path names into another. */
const wandering = ['../other', 'a/b', '/etc/passwd', '..\\other', '.', '..'];

describe('a file to send along', () => {
  const withFiles = (...files: Record<string, string>[]): Parts => ({
    channel: 'email',
    message: { MessagePlain: 'See the statement' },
    files,
  });
  const statement = withFiles({ file: 'statements/[[n]].pdf' });

  test('that is the same for all is in every envelope', () => {
    const parts = withFiles({ file: 'docs/a.pdf' }, { file: 'docs/b.pdf', name: 'Terms' });
    expect(personalised(parts, {})).toMatchObject({
      envelope: {
        files: [
          { path: 'docs/a.pdf', name: 'a.pdf' },
          { path: 'docs/b.pdf', name: 'Terms' },
        ],
      },
    });
  });

  test('can be that of the contact, and is named after its path', () => {
    expect(personalised(statement, { n: '42' })).toMatchObject({
      envelope: { files: [{ path: 'statements/42.pdf', name: '42.pdf' }] },
    });
  });

  test('can have a name of the contact', () => {
    const parts = withFiles({ file: 'a.pdf', name: 'For [[first|you]].pdf' });
    expect(personalised(parts, { first: 'Ann' })).toMatchObject({
      envelope: { files: [{ path: 'a.pdf', name: 'For Ann.pdf' }] },
    });
  });

  test('has a path that the fallback may fill, with a folder too', () => {
    const parts = withFiles({ file: 'docs/[[n|common/general]].pdf' });
    expect(personalised(parts, {})).toMatchObject({
      envelope: { files: [{ path: 'docs/common/general.pdf', name: 'general.pdf' }] },
    });
  });

  test.each(wandering)('leaves a contact out whose value %s would lead to another folder', (n) => {
    expect(personalised(statement, { n })).toEqual({
      kind: 'invalid',
      column: 'files.0.file',
      detail: `"${n}" in [[n]] would lead to another folder`,
    });
  });

  test.each(['../secrets/[[n]].pdf', 'docs/../../[[n]].pdf', '/etc/[[n]]'])(
    'cannot lie outside of the folder of the campaign, whatever the contact: %s',
    (file) => {
      const campaign = readCampaign(
        yaml({ channel: 'fax', message: { Reference: 'r' }, files: [{ file }] }),
        'c.yaml',
      );
      expect(problemsThrown(() => checkCampaign(campaign, current))).toEqual([
        `c.yaml:9:17: "files.0.file": expected a path inside the campaign's folder, got "${file}".`,
      ]);
    },
  );

  test('leaves a contact out that has no value for the path', () => {
    expect(personalised(statement, {})).toEqual({
      kind: 'invalid',
      column: 'files.0.file',
      detail: '[[n]] is empty, and the path needs it',
    });
  });

  test('leaves a contact out whose value brings a line break', () => {
    expect(personalised(statement, { n: '4\n2' })).toMatchObject({
      column: 'files.0.file',
      detail: 'expected one line, got a line break in it.',
    });
    const named = withFiles({ file: 'a.pdf' }, { file: 'b.pdf', name: '[[n]]' });
    expect(personalised(named, { n: 'b\r\nX: y' })).toMatchObject({
      column: 'files.1.name',
      detail: 'expected one line, got a line break in it.',
    });
  });

  test('leaves a contact out for whom it would have no name', () => {
    const named = withFiles({ file: 'a.pdf', name: '[[n]]' });
    expect(personalised(named, { n: ' ' })).toMatchObject({
      column: 'files.0.name',
      detail: 'expected a text, got nothing.',
    });
  });

  test('cannot have a placeholder that nobody knows', () => {
    expect(problems(withFiles({ file: 'a.pdf' }, { file: '[[nn]].pdf', name: '[[citty]]' }))).toEqual([
      expect.stringMatching(/^c\.yaml:9:\d+: Unknown placeholder \[\[nn\]\] in "files\.1\.file"\./),
      expect.stringMatching(/^c\.yaml:9:\d+: Unknown placeholder \[\[citty\]\] in "files\.1\.name"\./),
    ]);
  });

  test('is read for its columns only where they are used', () => {
    expect(composed(statement).usedColumns).toEqual(['n']);
  });
});

describe('a keypad', () => {
  const call = (...Keypads: { Tone: number; RouteNumber: string }[]): Parts => ({
    target: earlier,
    channel: 'tts',
    message: { MessageToPeople: 'Press a button', Keypads },
  });

  test('connects buttons to numbers, in the order of the buttons', () => {
    const parts = call({ Tone: 9, RouteNumber: '+6499' }, { Tone: 1, RouteNumber: '[[n]]' });
    expect(personalised(parts, { n: '+6491' })).toMatchObject({
      envelope: {
        keypads: [
          { Tone: '1', RouteNumber: '+6491' },
          { Tone: '9', RouteNumber: '+6499' },
        ],
      },
    });
  });

  test.each([
    ['', 'expected a text, got nothing.'],
    [' ', 'expected a text, got nothing.'],
    ['+64\n91', 'expected one line, got a line break in it.'],
  ])('leaves a contact out whose number would be %j, with the button it is of', (n, detail) => {
    const parts = call({ Tone: 1, RouteNumber: '+6491' }, { Tone: 3, RouteNumber: '[[n]]' });
    expect(personalised(parts, { n })).toEqual({
      kind: 'invalid',
      column: 'Keypads',
      detail: `button 3: ${detail}`,
    });
  });

  test('leaves a contact out whose number the format cannot carry', () => {
    const parts = {
      ...call({ Tone: 1, RouteNumber: '[[n]]' }),
      target: { ...earlier, format: 'xml' } as const,
    };
    expect(personalised(parts, { n: '\u0007' })).toMatchObject({ kind: 'invalid', column: 'n' });
  });

  test('cannot have a placeholder that nobody knows', () => {
    expect(problems(call({ Tone: 1, RouteNumber: '+64[[nn]]' }))).toEqual([
      expect.stringMatching(
        /^c\.yaml:9:\d+: Unknown placeholder \[\[nn\]\] in "message\.Keypads\.0\.RouteNumber"\./,
      ),
    ]);
  });
});

describe('a recording', () => {
  const call = (message: Record<string, string>): Parts => ({ target: earlier, channel: 'voice', message });
  const greeting = call({ MessageToPeople: 'audio/[[n]].wav', Reference: 'R' });

  test('is a path of the contact, apart from the fields', () => {
    expect(personalised(greeting, { n: '42' })).toMatchObject({
      envelope: { fields: { Reference: 'R' }, audio: { MessageToPeople: 'audio/42.wav' } },
    });
  });

  test('is needed for a call to have something to say', () => {
    expect(composed(greeting).contentFields).toEqual(['MessageToPeople']);
    const parts = call({ MessageToAnswerphones: 'a.wav' });
    expect(personalised(parts, {})).toMatchObject({ kind: 'invalid', column: 'MessageToPeople' });
  });

  test.each([...wandering, ''])('leaves a contact out whose value %j does not fit in a path', (n) => {
    expect(personalised(greeting, { n })).toMatchObject({ kind: 'invalid', column: 'MessageToPeople' });
  });

  test('leaves a contact out whose value brings a line break', () => {
    expect(personalised(greeting, { n: 'a\nb' })).toMatchObject({
      kind: 'invalid',
      column: 'MessageToPeople',
    });
  });

  test('of text to speech is the text itself', () => {
    const parts: Parts = { target: earlier, channel: 'tts', message: { MessageToPeople: 'Hi [[first]]' } };
    expect(personalised(parts, { first: 'Ann/Lee' })).toMatchObject({
      envelope: { fields: { MessageToPeople: 'Hi Ann/Lee' }, audio: {} },
    });
  });
});

describe('the files that are the same for every contact', () => {
  test('are told with their places: files to send along', () => {
    const parts: Parts = {
      message: { Message: 'Hi' },
      files: [{ file: 'a.pdf' }, { file: '[[n]].pdf' }, { file: 'docs/b.pdf', name: '[[first]].pdf' }],
    };
    expect(staticFiles(readCampaign(yaml(parts), 'c.yaml'), current)).toEqual([
      { kind: 'file', path: 'a.pdf', where: 'c.yaml:9:17' },
      { kind: 'file', path: 'docs/b.pdf', where: 'c.yaml:9:55' },
    ]);
  });

  test('are told with their places: recordings', () => {
    const parts: Parts = {
      channel: 'voice',
      message: { MessageToPeople: 'a.wav', MessageToAnswerphones: 'audio/[[n]].wav', CallerID: '+6491' },
    };
    const campaign = readCampaign(yaml(parts), 'c.yaml');
    expect(() => checkCampaign(campaign, earlier)).not.toThrow();
    expect(staticFiles(campaign, earlier)).toEqual([{ kind: 'audio', path: 'a.wav', where: 'c.yaml:8:20' }]);
  });
});
