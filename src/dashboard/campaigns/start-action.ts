import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { previewStart, type StartPreview } from '../../engine/access/preview-start.ts';
import { startOnce } from '../../engine/access/start-by-key.ts';
import { NothingNewError } from '../../engine/plan/contact-patterns.ts';
import type { ContactFileSize } from '../../engine/plan/describe-contact-files.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { readCampaignText } from '../../engine/schedule/describe-campaigns.ts';
import { findStartedByKey } from '../../ledger/runs/made-once.ts';
import { digestOf } from '../../platform/digest.ts';
import { count } from '../../platform/sentence.ts';
import { type Html, html } from '../../report/html/html.ts';
import { addAction } from '../base/actions.ts';
import { refuse } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { campaignPath } from '../paths.ts';
import { keyField, openStarted, requireKey } from '../runs/new-run.ts';
import { requireCampaign } from './campaign-page.ts';

/** Starts one run of a campaign for each form, also when the form is sent twice. */
export function addStartAction(server: FastifyInstance, tools: Tools): void {
  const { campaignSource, startRun, limits } = tools;
  addAction(server, {
    path: '/campaigns/:file/start',
    scope: 'run',
    needsReason: () => false,
    ask: async (view, { params }, { key }) => {
      const { file, campaign } = await requireCampaign(view, tools, params['file'] ?? '');
      const preview = await limits.plan(() => previewStart(view.context, campaignSource, file));
      return {
        title: `Start ${file} now?`,
        body: html`${keyField(view, key)}
<input type="hidden" name="seen" value="${await seenIn(preview, tools, file)}">
${previewText(preview)}
${campaign?.approval !== undefined && html`<p>The campaign asks for <strong>approval</strong>: the run may wait for another person before anything is sent.</p>`}`,
        button: 'Start the run',
        within: { href: campaignPath(file), text: file },
      };
    },
    act: async (view, { params }, { key = '', seen }) => {
      const { file } = await requireCampaign(view, tools, params['file'] ?? '');
      const { name: token, accounts } = view.session;
      const preview = await limits.plan(() => previewStart(view.context, campaignSource, file));
      // What cannot start is refused below, in its own words.
      const canStart = preview.kind === 'counted' || preview.kind === 'large';
      const isSeen = seen === (await seenIn(preview, tools, file));
      // A form that was sent before opens the run that it started.
      if (canStart && !isSeen && !(await findStartedByKey(view.context.ledger.pool, { token, key })))
        refuse('start', changed);
      const request = { token, accounts, key: requireKey(key), campaign: file };
      return openStarted(
        await startOnce(view.context, tools, () => startRun(view.context, request)).catch(asInputError),
      );
    },
  });
}

const changed =
  'The campaign, its contact files or its earlier runs have changed since this page was opened. It shows them as they are now: look again before you start it.';

/** What the person decides about: the campaign as it is written, and the figures. */
async function seenIn(preview: StartPreview, { campaignSource }: Tools, file: string): Promise<string> {
  const figures =
    preview.kind === 'counted'
      ? {
          files: preview.preview.files,
          contacts: preview.preview.contacts,
          recipients: preview.preview.recipients,
          requests: preview.preview.requests,
          cost: preview.preview.cost,
          hadRun: preview.preview.repeats !== null,
        }
      : preview;
  const text = await readCampaignText(file, campaignSource);
  return digestOf(JSON.stringify([figures, text])).toString('hex');
}

function asInputError(error: unknown): never {
  if (error instanceof NothingNewError) return refuse('start', error.message);
  throw error;
}

/** @throws InputError when no run can start now */
function previewText(preview: StartPreview): Html {
  switch (preview.kind) {
    case 'counted':
      return countedText(preview.preview);
    case 'large':
      return largeText(preview.files);
    case 'nothing new':
      return refuse('start', preview.what);
    case 'faulty':
      throw new InputError(preview.problems);
  }
}

function countedText({ recipients, requests, contacts, cost, repeats, unfinished, files }: Preview): Html {
  const leftOut = contacts.read - recipients - (contacts.beyondLimit ?? 0);
  const price =
    cost.kind === 'known'
      ? `${cost.total} ${cost.currency}, by the rates of the account`
      : `not known: ${cost.why}`;
  return html`<p>It sends to <strong>${count(recipients, 'recipient')}</strong> in ${count(requests, 'request')}. The contact files (${files.map(({ name }) => name).join(', ')}) have ${count(contacts.read, 'row')}${leftOut > 0 && html`; ${count(leftOut, 'row')} ${leftOut === 1 ? 'is' : 'are'} left out`}.</p>
<p>Estimated cost: ${price}.</p>
${repeats !== null && html`<p class="banner"><strong>These contacts had a run before.</strong> ${repeats}</p>`}
${unfinished !== null && html`<p class="banner">${unfinished}</p>`}`;
}

function largeText(files: readonly ContactFileSize[]): Html {
  const items = files.map(
    ({ name, bytes, rows }) =>
      html`<li><code dir="auto">${name}</code>: ${rows === undefined ? `${(bytes / 1e6).toFixed(1)} MB` : html`<strong>about ${count(rows, 'row')}</strong>`}</li>`,
  );
  return html`<p>It sends to each row of its contact files that is valid, not suppressed and not sent to before:</p>
<ul>${items}</ul>
<p>They are large, so they are counted exactly when the run is planned. <code>volley plan</code> does so without a start, and shows messages and cost.</p>`;
}
