import type { LookUpJob } from '../../engine/runs/look-up-jobs.ts';
import { count } from '../../platform/sentence.ts';
import { formatLookUp } from '../../report/doubts.ts';
import { time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { runPath } from '../paths.ts';

export type LookUp = { readonly run: string; readonly job: LookUpJob | undefined };

/** How far the service was asked about the run's doubts, since this process started. */
export function lookUpPart({ run, job }: LookUp, { zone }: Viewer): Html {
  if (!job) return html``;
  const list = html` <a href="${runPath(run, 'doubts')}">List what is still in doubt</a>`;
  return html`<p class="note" id="look-up" role="status">${lookUpText(job)} Begun at ${time(job.startedAt, zone)} (${zone}).${job.state !== 'asking' && list}</p>`;
}

function lookUpText(job: LookUpJob): string {
  const asked = job.found + job.notFound + job.unclear;
  switch (job.state) {
    case 'asking':
      return `The service is being asked, one request a second: ${count(asked, 'request')} so far, ${count(job.found, 'request')} found.`;
    case 'finished':
      return `The service was asked: ${formatLookUp(job)}`;
    case 'stopped':
      return `Asking was stopped: ${formatLookUp(job)}`;
    case 'refused':
      return `The service refused the credential (${job.words ?? ''}): ${formatLookUp(job)}`;
    case 'failed':
      return `Asking failed (${job.words ?? ''}): ${formatLookUp(job)} Ask again.`;
  }
}
