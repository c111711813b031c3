import type { ListedRun } from '../../ledger/runs/find.ts';
import { type Html, html } from '../../report/html/html.ts';
import { runPath } from '../paths.ts';

export const formats = ['html', 'xlsx', 'csv', 'json', 'ndjson'] as const;
export type Format = (typeof formats)[number];

/** The reports about one run, with the formats in which the command line writes each. */
export const downloads = [
  { report: 'run', name: 'The run in full', formats: ['html', 'xlsx', 'json'] },
  { report: 'contacts', name: 'The contact files, each row with its result', formats },
  { report: 'failures', name: 'Requests that were not accepted', formats },
  { report: 'missing', name: 'Recipients without a delivery report', formats },
] as const satisfies readonly {
  readonly report: string;
  readonly name: string;
  readonly formats: readonly Format[];
}[];
export type Report = (typeof downloads)[number]['report'];

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
