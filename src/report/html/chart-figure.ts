import type { Chart } from './chart.ts';
import type { Html } from './html.ts';
import { chartWidth } from './svg.ts';
import { escapeText } from './text.ts';

/** For other pages. */
export function chartFigure(chart: Chart, id: string): Html {
  return { kind: 'html', text: formatChartFigure(chart, id) };
}

/**
 * A chart, with its figures as a table that opens on a click.
 *
 * @param id unique in the page
 */
export function formatChartFigure({ title, description, height, marks, table }: Chart, id: string): string {
  const name = escapeText(title);
  return `<figure>
<figcaption dir="auto">${name}</figcaption>
<svg role="img" aria-labelledby="${id}-title ${id}-description" viewBox="0 0 ${chartWidth} ${height}">
<title id="${id}-title">${name}</title><desc id="${id}-description">${escapeText(description)}</desc>
${marks}
</svg>
${formatChartTable(name, table)}</figure>
`;
}

/** @param name escaped */
function formatChartTable(name: string, { titles, lines }: Chart['table']): string {
  if (lines.length === 0) return '';
  const [what, figure] = titles.map(escapeText);
  const rows = lines.map(([of, number]) => {
    return `<tr><th scope="row" dir="auto">${escapeText(of)}</th><td class="n">${escapeText(number)}</td></tr>\n`;
  });
  return `<details class="figures">
<summary>Figures<span class="hidden"> of ${name}</span></summary>
<div class="lines" role="group" aria-label="Figures of ${name}" tabindex="0">
<table>
<caption class="hidden">${name}</caption>
<thead><tr><th scope="col">${what}</th><th scope="col" class="n">${figure}</th></tr></thead>
<tbody>
${rows.join('')}</tbody>
</table>
</div>
</details>
`;
}
