import { link, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Contact } from '../../../src/domain/contacts.ts';
import type { Envelope } from '../../../src/domain/message.ts';
import {
  type CampaignFiles,
  type FileRules,
  openCampaignFiles,
} from '../../../src/engine/plan/campaign-files.ts';
import { collectBatches } from '../../support/collect.ts';
import { aContact, anEnvelope } from '../../support/ledger.ts';
import { wav } from '../../support/wav.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
let folder: string;
let files: CampaignFiles;
beforeEach(async () => {
  workspace = await makeWorkspace({ 'night/statements/1.pdf': '%PDF one', 'secret.pdf': 'x' });
  folder = join(workspace.folder, 'night');
  files = await openCampaignFiles(folder);
});
afterEach(() => workspace[Symbol.asyncDispose]());

async function checkContact(others: Partial<Envelope>): Promise<Contact[]> {
  const contact = aContact(2, { envelope: anEnvelope({}, others) });
  return collectBatches(
    files.checkContacts(
      (async function* () {
        yield [contact];
      })(),
    ),
  );
}

const checkAttached = (...paths: readonly string[]) =>
  checkContact({ files: paths.map((path) => ({ path, name: 'a.pdf' })) });

describe('the files of a contact', () => {
  test('a file that exists is sent', async () => {
    expect(await checkAttached('statements/1.pdf')).toMatchObject([{ kind: 'contact', line: 2 }]);
    expect((await files.read('statements/1.pdf')).toString()).toBe('%PDF one');
  });

  test.each([
    ['statements/2.pdf', 'it does not exist'],
    ['statements/1.pdf/x', 'statements/1.pdf is a file, not a folder'],
    ['statemens/1.pdf', 'there is no folder statemens'],
    ['statements', 'it is a folder'],
    ['../secret.pdf', "it lies outside the campaign's folder"],
    ['statements/../../secret.pdf', "it lies outside the campaign's folder"],
    ['/etc/hostname', "it lies outside the campaign's folder"],
  ])('a contact is rejected with line and reason when its file cannot be sent: %s', async (path, problem) => {
    expect(await checkAttached('statements/1.pdf', path)).toEqual([
      {
        kind: 'rejected',
        file: 0,
        line: 2,
        column: 'files.1.file',
        reason: 'invalid',
        detail: `the file "${path}" cannot be sent: ${problem}`,
      },
    ]);
  });

  test('links to files outside the folder and empty files reject the contact', async () => {
    await symlink(join(workspace.folder, 'secret.pdf'), join(folder, 'link.pdf'));
    await writeFile(join(folder, 'empty.pdf'), '');
    expect(await checkAttached('link.pdf')).toMatchObject([{ detail: expect.stringContaining('outside') }]);
    expect(await checkAttached('empty.pdf')).toMatchObject([
      { detail: expect.stringContaining('it is empty') },
    ]);
  });

  test('files of one request over 20 MiB reject the contact', async () => {
    await writeFile(join(folder, 'big.pdf'), Buffer.alloc(11 * 1024 * 1024));
    expect(await checkAttached('big.pdf')).toMatchObject([{ kind: 'contact' }]);
    expect(await checkAttached('big.pdf', 'big.pdf')).toMatchObject([
      { column: 'files.1.file', detail: 'the files are over 20 MiB together' },
    ]);
  });

  test.each([
    ['a name that is too long', `${'x'.repeat(300)}.pdf`, 'its name is too long'],
    ['circular links', 'circle.pdf', 'its symbolic links form a loop'],
  ])('a path with %s is reported without the folders of this machine', async (_, path, problem) => {
    await symlink('circle.pdf', join(folder, 'circle.pdf'));
    const detail = `the file "${path}" cannot be sent: ${problem}`;
    expect(await checkAttached(path)).toMatchObject([{ kind: 'rejected', column: 'files.0.file', detail }]);
  });

  test('a file that has changed by the time of the run is checked again', async () => {
    expect(await checkAttached('statements/1.pdf')).toMatchObject([{ kind: 'contact' }]);
    await writeFile(join(folder, 'statements/1.pdf'), '');
    await expect(files.read('statements/1.pdf')).rejects.toThrow(
      'statements/1.pdf: The file cannot be sent: it is empty.',
    );
    await truncate(join(folder, 'statements/1.pdf'), 20 * 1024 * 1024 + 1);
    await expect(files.read('statements/1.pdf')).rejects.toThrow('over 20 MiB');
  });

  // For the limit of 2 GiB: test/torture/campaign-files.torture.ts.
  test('files of a run over its limit are an input error', async () => {
    files = await openCampaignFiles(folder, {
      ownFiles: [],
      rowFolders: new Map(),
      maxTotalBytes: 1024 ** 3 / 32,
    });
    await writeFile(join(folder, 'big.pdf'), '');
    await truncate(join(folder, 'big.pdf'), 16 * 1024 * 1024);
    for (let count = 1; count <= 2; count++) await files.read('big.pdf');
    await expect(files.read('statements/1.pdf')).rejects.toThrow(
      'statements/1.pdf: The file cannot be sent: the files of a run are over 0.03125 GiB together.',
    );
  });

  test('a file that disappears between the check and the run is an input error with its path', async () => {
    await expect(files.read('statements/9.pdf')).rejects.toThrow(
      'statements/9.pdf: The file cannot be sent: it does not exist.',
    );
  });
});

describe('files named by rows of the contact file', () => {
  const limits = (column: string): FileRules => ({
    ownFiles: [join(folder, 'accounts.yaml')],
    rowFolders: new Map([[column, { folder: 'statements', where: 'campaign.yaml:9:3' }]]),
  });

  test('a link that replaces a checked file before the run does not lead outside the folder', async () => {
    await writeFile(join(folder, 'accounts.yaml'), 'a: b');
    await writeFile(join(folder, 'letter.pdf'), '%PDF');
    files = await openCampaignFiles(folder, limits('files.0.file'));
    expect(await files.check('letter.pdf', 'file')).toEqual({ bytes: 4 });
    expect(await checkAttached('statements/1.pdf')).toMatchObject([{ kind: 'contact' }]);
    await rm(join(folder, 'statements/1.pdf'));
    await symlink('../letter.pdf', join(folder, 'statements/1.pdf'));
    await expect(files.read('statements/1.pdf')).rejects.toThrow('it lies outside statements');
    expect((await files.read('letter.pdf')).toString()).toBe('%PDF');
    await rm(join(folder, 'statements/1.pdf'));
    await link(join(folder, 'accounts.yaml'), join(folder, 'statements/1.pdf'));
    await expect(files.read('statements/1.pdf')).rejects.toThrow('it is a file of the campaign itself');
  });

  test('an audio file of a row must lie inside its folder', async () => {
    await writeFile(join(folder, 'private.wav'), wav());
    await symlink('../private.wav', join(folder, 'statements/1.wav'));
    await writeFile(join(folder, 'statements/2.wav'), wav());
    files = await openCampaignFiles(folder, limits('MessageToPeople'));
    expect(await checkContact({ audio: { MessageToPeople: 'statements/2.wav' } })).toMatchObject([
      { kind: 'contact' },
    ]);
    expect(await checkContact({ audio: { MessageToPeople: 'statements/1.wav' } })).toMatchObject([
      { column: 'MessageToPeople', detail: expect.stringContaining('it lies outside statements') },
    ]);
  });
});

describe('the audio of a voice message', () => {
  const audio = async (data: Buffer) => {
    await mkdir(join(folder, 'audio'), { recursive: true });
    await writeFile(join(folder, 'audio/hello.wav'), data);
    return checkContact({ audio: { MessageToPeople: 'audio/hello.wav' } });
  };

  test('audio must be WAV, PCM, 16-bit, 8000 Hz, with one or two channels', async () => {
    expect(await audio(wav())).toMatchObject([{ kind: 'contact' }]);
    files = await openCampaignFiles(folder);
    expect(await audio(wav({ channels: 2 }))).toMatchObject([{ kind: 'contact' }]);
  });

  test.each([
    ['only a header', wav().subarray(0, 36)],
    ['no samples', wav({ seconds: 0 })],
  ])('audio with %s rejects the contact, because the call would be silent', async (_, data) => {
    expect(await audio(data)).toMatchObject([
      { kind: 'rejected', column: 'MessageToPeople', detail: expect.stringContaining('it holds no sound') },
    ]);
  });

  test.each([
    ['another sample rate', wav({ sampleRate: 44_100 }), 'got PCM, 16-bit, 44100 Hz'],
    ['another resolution', wav({ bits: 8 }), 'got PCM, 8-bit, 8000 Hz'],
    ['another codec', wav({ bits: 8, format: 7 }), 'got MULAW, 8-bit, 8000 Hz'],
    ['another kind of file', Buffer.from('%PDF-1.4 and so on and on'), 'this is none'],
    ['a truncated file', wav().subarray(0, 20), 'this is none'],
  ])('audio in a wrong format rejects the contact: %s', async (_, data, found) => {
    const [contact] = await audio(data);
    expect(contact).toMatchObject({
      kind: 'rejected',
      file: 0,
      column: 'MessageToPeople',
      detail: expect.stringContaining('expected a WAV file, PCM, 16-bit, 8000 Hz'),
    });
    expect(contact).toMatchObject({ detail: expect.stringContaining(found) });
  });
});
