import { describe, expect, test } from 'vitest';
import { checkCampaign, readCampaign } from '../../src/campaign/campaign.ts';
import { staticFiles } from '../../src/campaign/files.ts';
import { problemsThrown } from '../support/thrown-problems.ts';
import { composed, current, earlier, type Parts, personalised, yaml } from './parts.ts';

const problems = (parts: Parts) => problemsThrown(() => composed(parts));

/** Values that would lead from the folder of the path to another. */
const wandering = ['../other', 'a/b', '/etc/passwd', '..\\other', '.', '..'];

describe('files of an envelope', () => {
  const withFiles = (...files: Record<string, string>[]): Parts => ({
    channel: 'email',
    message: { MessagePlain: 'See the statement' },
    files,
  });
  const statement = withFiles({ file: 'statements/[[n]].pdf' });

  test('a constant file is in every envelope', () => {
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

  test("a file can be the contact's own, named after its path", () => {
    expect(personalised(statement, { n: '42' })).toMatchObject({
      envelope: { files: [{ path: 'statements/42.pdf', name: '42.pdf' }] },
    });
  });

  test('the name of a file can come from the contact', () => {
    const parts = withFiles({ file: 'a.pdf', name: 'For [[first|you]].pdf' });
    expect(personalised(parts, { first: 'Ann' })).toMatchObject({
      envelope: { files: [{ path: 'a.pdf', name: 'For Ann.pdf' }] },
    });
  });

  test('a fallback can fill a path, with a folder too', () => {
    const parts = withFiles({ file: 'docs/[[n|common/general]].pdf' });
    expect(personalised(parts, {})).toMatchObject({
      envelope: { files: [{ path: 'docs/common/general.pdf', name: 'general.pdf' }] },
    });
  });

  test.each(wandering)('a contact is invalid if its value %s would lead to another folder', (n) => {
    expect(personalised(statement, { n })).toEqual({
      kind: 'invalid',
      column: 'files.0.file',
      detail: `"${n}" in [[n]] would lead to another folder`,
    });
  });

  test.each(['../secrets/[[n]].pdf', 'docs/../../[[n]].pdf', '/etc/[[n]]'])(
    "no contact can lead a path out of the campaign's folder: %s",
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

  test('a contact without a value for the path is invalid', () => {
    expect(personalised(statement, {})).toEqual({
      kind: 'invalid',
      column: 'files.0.file',
      detail: '[[n]] is empty, and the path needs it',
    });
  });

  test('a contact whose value brings a line break into a path is invalid', () => {
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

  test('a contact that leaves the name of a file empty is invalid', () => {
    const named = withFiles({ file: 'a.pdf', name: '[[n]]' });
    expect(personalised(named, { n: ' ' })).toMatchObject({
      column: 'files.0.name',
      detail: 'expected a text, got nothing.',
    });
  });

  test('an unknown placeholder in the path of a file is an error', () => {
    expect(problems(withFiles({ file: 'a.pdf' }, { file: '[[nn]].pdf', name: '[[citty]]' }))).toEqual([
      expect.stringMatching(/^c\.yaml:9:\d+: Unknown placeholder \[\[nn\]\] in "files\.1\.file"\./),
      expect.stringMatching(/^c\.yaml:9:\d+: Unknown placeholder \[\[citty\]\] in "files\.1\.name"\./),
    ]);
  });

  test('the columns in the path of a file are used columns', () => {
    expect(composed(statement).usedColumns).toEqual(['n']);
  });
});

describe('keypads of an envelope', () => {
  const call = (...Keypads: { Tone: number; RouteNumber: string }[]): Parts => ({
    account: earlier,
    channel: 'tts',
    message: { MessageToPeople: 'Press a button', Keypads },
  });

  test('keypads connect buttons to numbers, in the order of the buttons', () => {
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
  ])(
    'a contact is invalid if the number of a button would be %j, and the error names the button',
    (n, detail) => {
      const parts = call({ Tone: 1, RouteNumber: '+6491' }, { Tone: 3, RouteNumber: '[[n]]' });
      expect(personalised(parts, { n })).toEqual({
        kind: 'invalid',
        column: 'Keypads',
        detail: `button 3: ${detail}`,
      });
    },
  );

  test('a contact is invalid if the format cannot carry the number of a button', () => {
    const parts = {
      ...call({ Tone: 1, RouteNumber: '[[n]]' }),
      account: { ...earlier, format: 'xml' } as const,
    };
    expect(personalised(parts, { n: '\u0007' })).toMatchObject({ kind: 'invalid', column: 'n' });
  });

  test('an unknown placeholder in the number of a button is an error', () => {
    expect(problems(call({ Tone: 1, RouteNumber: '+64[[nn]]' }))).toEqual([
      expect.stringMatching(
        /^c\.yaml:9:\d+: Unknown placeholder \[\[nn\]\] in "message\.Keypads\.0\.RouteNumber"\./,
      ),
    ]);
  });
});

describe('recordings of an envelope', () => {
  const call = (message: Record<string, string>): Parts => ({ account: earlier, channel: 'voice', message });
  const greeting = call({ MessageToPeople: 'audio/[[n]].wav', Reference: 'R' });

  test("a recording is a path of the contact's own, apart from the fields", () => {
    expect(personalised(greeting, { n: '42' })).toMatchObject({
      envelope: { fields: { Reference: 'R' }, audio: { MessageToPeople: 'audio/42.wav' } },
    });
  });

  test('a call without a recording is invalid', () => {
    expect(composed(greeting).contentFields).toEqual(['MessageToPeople']);
    const parts = call({ MessageToAnswerphones: 'a.wav' });
    expect(personalised(parts, {})).toMatchObject({ kind: 'invalid', column: 'MessageToPeople' });
  });

  test.each([...wandering, ''])(
    'a contact is invalid if its value %j does not fit into the path of a recording',
    (n) => {
      expect(personalised(greeting, { n })).toMatchObject({ kind: 'invalid', column: 'MessageToPeople' });
    },
  );

  test('a contact whose value brings a line break into the path of a recording is invalid', () => {
    expect(personalised(greeting, { n: 'a\nb' })).toMatchObject({
      kind: 'invalid',
      column: 'MessageToPeople',
    });
  });

  test('in text to speech, the field is the text itself', () => {
    const parts: Parts = { account: earlier, channel: 'tts', message: { MessageToPeople: 'Hi [[first]]' } };
    expect(personalised(parts, { first: 'Ann/Lee' })).toMatchObject({
      envelope: { fields: { MessageToPeople: 'Hi Ann/Lee' }, audio: {} },
    });
  });
});

describe('staticFiles', () => {
  test('staticFiles returns files to send with their positions', () => {
    const parts: Parts = {
      message: { Message: 'Hi' },
      files: [{ file: 'a.pdf' }, { file: '[[n]].pdf' }, { file: 'docs/b.pdf', name: '[[first]].pdf' }],
    };
    expect(staticFiles(readCampaign(yaml(parts), 'c.yaml'), current)).toEqual([
      { kind: 'file', path: 'a.pdf', where: 'c.yaml:9:17' },
      { kind: 'file', path: 'docs/b.pdf', where: 'c.yaml:9:55' },
    ]);
  });

  test('staticFiles returns recordings with their positions', () => {
    const parts: Parts = {
      channel: 'voice',
      message: {
        MessageToPeople: 'a.wav',
        MessageToAnswerphones: 'audio/[[n]].wav',
        CallerID: '+6493090000',
      },
    };
    const campaign = readCampaign(yaml(parts), 'c.yaml');
    expect(() => checkCampaign(campaign, earlier)).not.toThrow();
    expect(staticFiles(campaign, earlier)).toEqual([{ kind: 'audio', path: 'a.wav', where: 'c.yaml:8:20' }]);
  });
});
