import multipart, { type MultipartFile } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Html, html } from '../../report/html/html.ts';
import { requireCsrfToken } from '../base/actions.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { csrfField } from '../base/layout.ts';
import { addPage, sendPage } from '../base/pages.ts';
import { type View, viewOf } from '../base/view.ts';
import { addressOf } from './invoice-page.ts';
import { invoiceFieldsets, readInvoiceQuestion, searchOf } from './invoice-question.ts';
import type { KeptInvoice, KeptInvoices } from './kept-invoices.ts';

const maxMegabytes = 32;

/** Takes an invoice: its file is chosen, or dropped on the field. */
export async function addUploadPage(server: FastifyInstance, invoices: KeptInvoices): Promise<void> {
  await server.register(multipart, {
    limits: { files: 1, fileSize: maxMegabytes * 1024 * 1024, fields: 100, fieldSize: 10_000, parts: 101 },
    throwFileSizeLimit: false,
  });
  addPage(server, { path: '/billing/reconcile', scope: 'read' }, async (view, { query }) => ({
    ...head,
    body: uploadForm(view, query),
  }));
  server.post('/billing/reconcile', async (request, reply) => {
    const view = viewOf(request);
    const sent = await readUpload(request, view, invoices);
    const { question } = readInvoiceQuestion(sent.fields, view);
    if (typeof sent.file !== 'string')
      return reply.redirect(`${addressOf(sent.file)}?${searchOf(question)}`, 303);
    return sendPage(reply, view, 422, { ...head, body: uploadForm(view, sent.fields, sent.file) });
  });
}

const head = { title: 'Check an invoice', within: { href: '/billing', text: 'Billing' } };

function uploadForm(view: View, fields: Fields, problem?: string): Html {
  const { question, problems } = readInvoiceQuestion(fields, view);
  return html`<p>Finds where an invoice and the ledger differ, line by line: what is billed and was not sent, what is billed twice or at another price, and what is missing.</p>
<form method="post" action="/billing/reconcile" enctype="multipart/form-data">
${csrfField(view)}
${invoiceFieldsets(question, problems)}
<div class="field drop">
<label for="invoice">The invoice</label>
<span class="hint" id="invoice-hint">A CSV file, also packed, or a workbook (.xlsx), of at most ${maxMegabytes} MB and 64 MB unpacked, with one line a recipient. Choose it, or drop it here.</span>
${problem && html`<span class="error" id="invoice-error">${problem}</span>`}
<input type="file" id="invoice" name="invoice" required accept=".csv,.gz,.xlsx,.txt,.tsv" aria-describedby="invoice-hint${problem && ' invoice-error'}"${problem && html` aria-invalid="true"`}>
</div>
<p class="buttons"><button>Compare</button></p>
</form>
<p class="hint">The file is kept in this process for an hour, for you only, and is not written to the ledger.</p>`;
}

type Upload = {
  readonly fields: Fields;
  /** The kept file, or a sentence about what is wrong with it. */
  readonly file: KeptInvoice | string;
};

/**
 * The fields come before the file, whose bytes are kept only for a form of ours. Those of others are read too: what is
 * left unread would hold up the next request of the connection.
 */
async function readUpload(request: FastifyRequest, view: View, invoices: KeptInvoices): Promise<Upload> {
  const fields: Record<string, string[]> = {};
  let file: KeptInvoice | string = 'Choose a file.';
  for await (const part of request.parts()) {
    if (part.type === 'field') {
      if (typeof part.value === 'string')
        fields[part.fieldname] = [...(fields[part.fieldname] ?? []), part.value];
      continue;
    }
    if (view.isCsrfToken(textIn(fields, 'csrf'))) file = await keepFile(part, view, invoices);
    else part.file.resume();
  }
  requireCsrfToken(view, textIn(fields, 'csrf'));
  return { fields, file };
}

async function keepFile(
  part: MultipartFile,
  { session }: View,
  invoices: KeptInvoices,
): Promise<Upload['file']> {
  if (part.filename === '') {
    part.file.resume();
    return 'Choose a file.';
  }
  const kept = await invoices.keep(session.owner, part.filename.slice(-200), part.file);
  if (!part.file.truncated) return kept;
  await invoices.drop(kept.id);
  return `The file is larger than ${maxMegabytes} MB. Pack it with gzip, or use \`volley billing reconcile --invoice <file>\`.`;
}
