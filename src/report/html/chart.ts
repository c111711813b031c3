import { type Html, html } from './html.ts';
import { chartWidth, type Drawing } from './svg.ts';

export type Chart = Drawing & {
  readonly title: string;
  /** The chart in words, for readers who do not see it. */
  readonly description: string;
  readonly table: ChartTable;
  /** The same for a wide page, which shows one of both. */
  readonly wide?: (Drawing & { readonly width: number }) | undefined;
};

/** The figures of a chart, as they are drawn. */
export type ChartTable = {
  readonly titles: readonly [string, string];
  readonly lines: readonly (readonly [string, string])[];
};

/**
 * A chart, with its figures as a table that opens on a click.
 *
 * @param id unique in the page
 */
export function chartFigure({ title, description, height, marks, table, wide }: Chart, id: string): Html {
  const names = html`role="img" aria-labelledby="${id}-title ${id}-description"`;
  return html`<figure${wide && html` class="wide"`}>
<figcaption dir="auto">${title}</figcaption>
<svg ${names} viewBox="0 0 ${chartWidth} ${height}">
<title id="${id}-title">${title}</title><desc id="${id}-description">${description}</desc>
${{ kind: 'html', text: marks }}
</svg>
${wide && html`<svg ${names} viewBox="0 0 ${wide.width} ${wide.height}">${{ kind: 'html', text: wide.marks }}</svg>`}
${table.lines.length > 0 && chartTable(title, table)}</figure>
`;
}

function chartTable(name: string, { titles: [what, figure], lines }: ChartTable): Html {
  const rows = lines.map(
    ([of, number]) => html`<tr><th scope="row" dir="auto">${of}</th><td class="n">${number}</td></tr>
`,
  );
  return html`<details class="figures">
<summary>Figures<span class="hidden"> of ${name}</span></summary>
<div class="lines" role="group" aria-label="Figures of ${name}" tabindex="0">
<table>
<caption class="hidden">${name}</caption>
<thead><tr><th scope="col">${what}</th><th scope="col" class="n">${figure}</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>
</details>
`;
}
