import type { FastifyInstance } from 'fastify';
import { rerunStates } from '../../domain/runs.ts';
import { reportPerson } from '../../engine/recipient-data/person-report.ts';
import { type KnownRecipient, readKnownRecipient } from '../../engine/reporting/recipient-report.ts';
import { type Html, html } from '../../report/html/html.ts';
import { messagePart } from '../../report/html/preview-message.ts';
import { formatCampaign } from '../../report/run/run-summary.ts';
import { numberIn } from '../base/fields.ts';
import { messagePolicy } from '../base/guards.ts';
import { addDownload, addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, notFound, requireAllAccounts, requireVisibleRun, type View } from '../base/view.ts';
import { agePart, section } from '../parts/parts.ts';
import { recipientOfRunPath, runPath } from '../paths.ts';
import { historyPart } from './history-part.ts';
import { asRow, recipientsTable } from './recipients-table.ts';
import { suppressedPart } from './suppressed-part.ts';

const path = '/runs/:run/recipients/:row';

/** One recipient of a run: what came of it, the text that it got, its row, and what else was sent to its address. */
export function addRecipientPage(server: FastifyInstance, { limits, campaignSource }: Tools): void {
  addPage(server, { path, scope: 'read' }, async (view, asked) => {
    const known = await limits.page(() => requireKnown(view, asked));
    const { run, address } = known.history;
    const suppressed =
      address === '' ? undefined : await suppressedPart(view, campaignSource.settings, address.toLowerCase());
    return {
      title: address || 'An erased recipient',
      within: { href: runPath(run), text: `${formatCampaign(known.history)} (${run})` },
      body: html`${recipientPart(view, known)}${suppressed}`,
      policy: messagePolicy,
    };
  });
  // It has entries of the audit trail, and rows of the contact files of all accounts.
  addDownload(server, { path: `${path}/download`, scope: 'admin' }, async (view, asked, format) => {
    requireAllAccounts(view);
    const { address } = (await requireKnown(view, asked)).history;
    if (format !== 'json' || address === '') return undefined;
    return {
      limit: limits.report,
      send: async (reply) => {
        const report = await reportPerson(view.context, address.toLowerCase());
        await reply
          .header('content-disposition', 'attachment; filename="recipient.json"')
          .type('application/json')
          .send(JSON.stringify(report));
      },
    };
  });
}

/** @throws ProblemError for a run of another account, and for a row to which the run did not send */
async function requireKnown(view: View, asked: Asked): Promise<KnownRecipient> {
  const { run } = await requireVisibleRun(view, asked);
  const row = numberIn(asked.params, 'row');
  const known = await readKnownRecipient(view.context, { run, row }, view.session.accounts);
  return known ?? notFound('The run has no recipient of this row. Its page lists what was left out.');
}

function recipientPart(view: View, { history, message, listRow, others, asOf }: KnownRecipient): Html {
  return html`${agePart(asOf)}
${actionLinks(view, history)}
${historyPart(history, view)}
${section('message', 'The message for this recipient', message ? html`<div class="planned">${messagePart(message)}</div>` : html`<p class="empty">It is erased.</p>`)}
${section('row', 'Its row in the contact file', listRow ? valuesPart(listRow.values) : html`<p class="empty">It is not kept, or its file takes too long to be read here: <a href="${runPath(history.run)}#downloads">the downloads of the run</a> may have it.</p>`)}
${section(
  'others',
  'What else was sent to this address',
  others.length === 0
    ? html`<p class="empty">Nothing that the ledger still has.</p>`
    : recipientsTable('Other messages, the newest run first', others.map(asRow), view),
)}`;
}

function actionLinks(view: View, history: KnownRecipient['history']): Html {
  const { run, row, state, kind, purgedAt, address } = history;
  const isRerunnable = rerunStates.some((each) => each === state);
  const mayRerun = view.mayRun && isRerunnable && kind !== 'test' && purgedAt === null && address !== '';
  const mayExport = view.mayAdmin && view.session.accounts === null && address !== '';
  return html`<p class="links">
${mayRerun && html`<a class="button" href="${runPath(run, 'rerun', { only: state, recipient: String(row) })}">Send again to this one</a>`}
${mayExport && html`<a href="${recipientOfRunPath(run, row, 'download')}?format=json">Everything known of this address, as JSON</a>`}
</p>`;
}

function valuesPart(values: Readonly<Record<string, string>>): Html {
  const items = Object.entries(values).map(
    ([column, value]) => html`<div><dt dir="auto">${column}</dt><dd dir="auto">${value}</dd></div>`,
  );
  return html`<dl class="details">${items}</dl>`;
}
