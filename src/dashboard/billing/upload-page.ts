import type { FastifyInstance } from 'fastify';
import { type Html, html } from '../../report/html/html.ts';
import type { Fields } from '../base/fields.ts';
import { csrfField } from '../base/layout.ts';
import { addPage, sendPage } from '../base/pages.ts';
import { type View, viewOf } from '../base/view.ts';
import type { KeptFiles } from '../uploads/kept-files.ts';
import { fileField, receiveFile } from '../uploads/receive-file.ts';
import { addressOf } from './invoice-page.ts';
import { invoiceFieldsets, readInvoiceQuestion } from './invoice-question.ts';

/** Takes an invoice: its file is chosen, or dropped on the field. */
export function addUploadPage(server: FastifyInstance, invoices: KeptFiles): void {
  addPage(server, { path: '/billing/reconcile', scope: 'read' }, async (view, { query }) => ({
    ...head,
    body: uploadForm(view, query),
  }));
  server.post('/billing/reconcile', async (request, reply) => {
    const view = viewOf(request);
    const sent = await receiveFile(request, view, invoices);
    if (typeof sent.file !== 'string')
      return reply.redirect(`${addressOf(sent.file)}?${searchOf(sent.fields)}`, 303);
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
${fileField('invoice', 'The invoice', 'with one line a recipient', problem)}
<p class="buttons"><button>Compare</button></p>
</form>
<p class="hint">The file is kept in this process for an hour, for you only, and is not written to the ledger.</p>`;
}

/** The fields as an address has them, without the token of the form. */
function searchOf({ csrf: _, ...fields }: Fields): string {
  const asked = Object.entries(fields).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  return new URLSearchParams(asked).toString();
}
