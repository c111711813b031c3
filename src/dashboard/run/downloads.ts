import type { ListedRun } from '../../ledger/runs/find.ts';
import { type Html, html } from '../../report/html/html.ts';
import { httpFormats } from '../../server/api/send-report.ts';
import { runFormats } from '../../server/api/send-run-report.ts';
import { runPath } from '../paths.ts';

/** The reports about one run, with the formats of each. */
export const downloads = [
  { report: 'run', name: 'The run in full', formats: runFormats },
  { report: 'contacts', name: 'The contact files, each row with its result', formats: httpFormats },
  { report: 'failures', name: 'Requests that were not accepted', formats: httpFormats },
  { report: 'missing', name: 'Recipients without a delivery report', formats: httpFormats },
] as const;

/** A test and a purged run have no contact files. */
export function downloadsPart({ run, kind, purgedAt }: ListedRun): Html {
  const offered = downloads.filter(
    ({ report }) => report !== 'contacts' || (kind !== 'test' && purgedAt === null),
  );
  return html`<section aria-labelledby="downloads">
<h2 id="downloads">Downloads</h2>
<ul class="downloads">${offered.map(
    ({ report, name, formats: offeredFormats }) => html`<li><span>${name}</span> ${offeredFormats.map(
      (format) =>
        html`<a href="${runPath(run, `download/${report}`, { format })}" aria-label="${name}, as ${format}">${format}</a> `,
    )}</li>
`,
  )}</ul>
</section>`;
}
