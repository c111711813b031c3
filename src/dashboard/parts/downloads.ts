import { type Html, html } from '../../report/html/html.ts';
import { type HttpFormat, httpFormats } from '../../server/api/send-report.ts';

const names: Readonly<Record<HttpFormat, string>> = {
  csv: 'CSV',
  xlsx: 'Workbook (.xlsx)',
  json: 'JSON',
  ndjson: 'JSON lines',
  html: 'Page to print',
};

/** Links to every line of a list, in each format. */
export function downloadLinks(addressOf: (format: HttpFormat) => string): Html {
  const links = httpFormats.map(
    (format) => html`<li><a href="${addressOf(format)}">${names[format]}</a></li>`,
  );
  return html`<section class="downloads" aria-labelledby="downloads"><h2 id="downloads">Download every line</h2>
<ul>${links}</ul></section>`;
}
