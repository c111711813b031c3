import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { makeProcessFolder, removeLeftFolders } from '../../platform/process-identity.ts';
import { count } from '../../platform/sentence.ts';
import { type Html, html } from '../../report/html/html.ts';
import { requireCsrfToken } from '../base/actions.ts';
import { textIn } from '../base/fields.ts';
import type { View } from '../base/view.ts';

/** A file that a person has sent to this process, until it is used. */
export type KeptFile = {
  readonly id: string;
  readonly name: string;
  readonly path: string;
};

/** The files of all persons, each found by its owner only. */
export type KeptFiles = ReturnType<typeof createKeptFiles>;

/** Milliseconds. */
const maxAge = 3_600_000;
const maxInAll = 30;

type Kept = KeptFile & {
  readonly owner: string;
  readonly deletion: NodeJS.Timeout;
  /** Ends the writing of a file that is still arriving. */
  readonly writing: AbortController;
};

/**
 * Keeps files in a folder that only this user can read. Removes those that killed processes left.
 *
 * @param purpose letters and `-`, for the name of the folder
 * @param maxOfOwner the oldest is deleted for a new one
 */
export function createKeptFiles(purpose: string, maxOfOwner: number) {
  const kept = new Map<string, Kept>();
  let folder: string | undefined;
  removeLeftFolders(purpose);

  const drop = async (id: string): Promise<void> => {
    const file = kept.get(id);
    if (!file) return;
    kept.delete(id);
    clearTimeout(file.deletion);
    file.writing.abort();
    await rm(file.path, { force: true });
  };
  /** Counts files that are still arriving too: many at once are no more than are kept. */
  const add = async (file: Kept): Promise<void> => {
    const all = [...kept.values()];
    const own = all.filter(({ owner }) => owner === file.owner);
    const tooMany =
      own.length >= maxOfOwner
        ? own.slice(0, own.length - maxOfOwner + 1)
        : all.slice(0, Math.max(0, all.length - maxInAll + 1));
    kept.set(file.id, file);
    await Promise.all(tooMany.map(({ id }) => drop(id)));
  };

  return {
    /** @throws InputError when later ones have replaced it before it was whole */
    async keep(owner: string, name: string, bytes: Readable): Promise<KeptFile> {
      folder ??= makeProcessFolder(purpose);
      const id = randomUUID();
      const path = join(folder, id);
      const writing = new AbortController();
      const deletion = setTimeout(() => drop(id), maxAge).unref();
      const file = { id, name, path, owner, deletion, writing };
      await add(file);
      try {
        const written = await open(path, 'wx', 0o600);
        await pipeline(bytes, written.createWriteStream(), { signal: writing.signal });
      } catch (error) {
        const wasReplaced = writing.signal.aborted;
        await drop(id);
        // A file that was replaced before it was opened.
        await rm(path, { force: true });
        throw wasReplaced ? replaced(name, maxOfOwner) : error;
      }
      return file;
    },
    /** Undefined after an hour. */
    find(owner: string, id: string): KeptFile | undefined {
      const file = kept.get(id);
      return file?.owner === owner ? file : undefined;
    },
    drop,
    async close(): Promise<void> {
      await Promise.all([...kept.keys()].map(drop));
      if (folder) await rm(folder, { recursive: true, force: true });
    },
  };
}

function replaced(name: string, max: number): InputError {
  const what = `Later files replaced it before it had arrived: at most ${count(max, 'file')} of a person ${max === 1 ? 'is' : 'are'} kept. Choose it again.`;
  return new InputError([{ where: name, what }]);
}

const maxMegabytes = 32;

export async function acceptFiles(server: FastifyInstance): Promise<void> {
  await server.register(multipart, {
    limits: { files: 1, fileSize: maxMegabytes * 1024 * 1024, fields: 100, fieldSize: 10_000, parts: 101 },
    throwFileSizeLimit: false,
  });
}

/** A file is chosen, or dropped on the field. @param hint what the file is, after its format and size */
export function fileField(name: string, label: string, hint: string, problem?: string): Html {
  return html`<div class="field drop">
<label for="${name}">${label}</label>
<span class="hint" id="${name}-hint">A CSV file, also packed, or a workbook (.xlsx), of at most ${maxMegabytes} MB and 64 MB unpacked, ${hint}. Choose it, or drop it here.</span>
${problem && html`<span class="error" id="${name}-error">${problem}</span>`}
<input type="file" id="${name}" name="${name}" required accept=".csv,.gz,.xlsx,.txt,.tsv" aria-describedby="${name}-hint${problem && ` ${name}-error`}"${problem && html` aria-invalid="true"`}>
</div>`;
}

/**
 * The fields, and the kept file, or a sentence about what is wrong with it. The fields come before the file, whose bytes are kept only for a form of ours. Those of others are read too: what is
 * left unread would hold up the next request of the connection.
 *
 * @throws ProblemError when the form is not of this session
 */
export async function receiveFile(request: FastifyRequest, view: View, kept: KeptFiles) {
  const fields: Record<string, string[]> = {};
  let file: KeptFile | string = 'Choose a file.';
  for await (const part of request.parts()) {
    if (part.type === 'field') {
      if (typeof part.value === 'string')
        fields[part.fieldname] = [...(fields[part.fieldname] ?? []), part.value];
      continue;
    }
    if (view.isCsrfToken(textIn(fields, 'csrf'))) file = await keepFile(part, view, kept);
    else part.file.resume();
  }
  requireCsrfToken(view, textIn(fields, 'csrf'));
  return { fields, file };
}

async function keepFile(
  part: MultipartFile,
  { session }: View,
  files: KeptFiles,
): Promise<KeptFile | string> {
  if (part.filename === '') {
    part.file.resume();
    return 'Choose a file.';
  }
  // The ledger keeps no other text.
  const name = part.filename.slice(-200).replaceAll('\0', '').toWellFormed();
  const kept = await files.keep(session.owner, name, part.file);
  if (!part.file.truncated) return kept;
  await files.drop(kept.id);
  return `The file is larger than ${maxMegabytes} MB. Pack it with gzip, or use the command line.`;
}
