import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Html, html } from '../../report/html/html.ts';
import { requireCsrfToken } from '../base/actions.ts';
import { type Fields, textIn } from '../base/fields.ts';
import type { View } from '../base/view.ts';
import type { KeptFile, KeptFiles } from './kept-files.ts';

const maxMegabytes = 32;

/** Lets the forms of these pages have a file. */
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

export type Upload = {
  readonly fields: Fields;
  /** The kept file, or a sentence about what is wrong with it. */
  readonly file: KeptFile | string;
};

/**
 * The fields come before the file, whose bytes are kept only for a form of ours. Those of others are read too: what is
 * left unread would hold up the next request of the connection.
 *
 * @throws ProblemError when the form is not of this session
 */
export async function receiveFile(request: FastifyRequest, view: View, kept: KeptFiles): Promise<Upload> {
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

async function keepFile(part: MultipartFile, { session }: View, files: KeptFiles): Promise<Upload['file']> {
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
