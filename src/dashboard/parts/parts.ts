import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import type { AsOf } from '../../domain/replica.ts';
import type { BackgroundJob } from '../../engine/background-jobs.ts';
import { describeUnapplied } from '../../platform/unapplied-reports-text.ts';
import { time } from '../../report/html/cells.ts';
import { share } from '../../report/html/figures.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import { formatLookUpEnd } from '../../report/look-up-words.ts';
import { formatAsOf, formatLocal } from '../../report/time.ts';
import type { Viewer } from '../base/view.ts';
import { nextStepPart } from './next-step.ts';

/** A section of a page under its own heading. @param id unique on the page */
export function section(id: string, title: Part, body: Part): Html {
  return html`<section aria-labelledby="${id}-title" id="${id}">
<h2 id="${id}-title">${title}</h2>
${body}
</section>`;
}

/** A section that a person opens. A live part keeps it open. @param id unique on the page */
export function folded(id: string, title: Part, body: Part): Html {
  return html`<details class="folded" id="${id}"><summary><h2>${title}</h2></summary>
${body}
</details>`;
}

/** How old the figures of a page are, where there is a replica. */
export function agePart(asOf: AsOf): Html | undefined {
  return asOf.read && html`<p class="hint">As of ${formatAsOf(asOf)}.</p>`;
}

export type Figure = { readonly name: Part; readonly value: Part; readonly note?: Part };

export function figures(list: readonly Figure[]): Html {
  const items = list.map(
    ({ name, value, note }) =>
      html`<div><dt>${name}</dt><dd>${value}${note !== undefined && note !== '' && html` <small>${note}</small>`}</dd></div>`,
  );
  return html`<dl class="figures-list">${items}</dl>`;
}

export function progressBar(label: string, done: number, whole: number): Html {
  const most = Math.max(1, whole);
  return html`<progress max="${most}" value="${Math.min(done, most)}" aria-label="${label}">${share(done, whole)}</progress>`;
}

export const nothingToSend = 'its contact files have no recipient to send to';

/** A banner for pages whose figures come from delivery reports. @param unapplied undefined until it is read */
export function unappliedBanner(unapplied: UnappliedReports | undefined, viewer: Viewer): readonly Html[] {
  const { zone } = viewer;
  const words = unapplied ? describeUnapplied(unapplied, (at) => `${formatLocal(at, zone)} ${zone}`) : [];
  return words.map((what) => html`<p class="banner" role="alert">${nextStepPart(what, viewer)}</p>`);
}

type AskedWords = {
  readonly id: string;
  /** While the service is asked: what it said so far. */
  readonly soFar: string;
  /** The same when asking has ended, as a sentence. */
  readonly found: string;
};

/** How far the service was asked about a run, since this process started. */
export function askedPart(
  { state, words, startedAt }: BackgroundJob<unknown>,
  { id, soFar, found }: AskedWords,
  { zone }: Viewer,
): Html {
  const text =
    state === 'asking'
      ? `The service is being asked, one request a second: ${soFar}.`
      : formatLookUpEnd(state, words, found);
  return html`<p class="note" id="${id}" role="status">${text} Begun at ${time(startedAt, zone)} (${zone}).</p>`;
}
