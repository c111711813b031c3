import type { Sheet } from '../formats/sheet.ts';
import type { Chart } from './chart.ts';
import { formatDocument, hashSource } from './document.ts';
import { createPageStyle } from './style.ts';
import { chartWidth } from './svg.ts';
import { formatHtmlTable } from './table.ts';
import { escapeText } from './text.ts';

export type Page = {
  readonly title: string;
  readonly subtitle: readonly string[];
  readonly asOf: Date;
  readonly charts: readonly Chart[];
  readonly tables: readonly TablePart[];
};

/** Hides the type of its rows from the page. */
export type TablePart = { readonly columns: number; readonly html: () => AsyncIterable<string> };

export function createTablePart<Row>(sheet: Sheet<Row>, caption: string): TablePart {
  return { columns: sheet.columns.length, html: () => formatHtmlTable(sheet, caption) };
}

export async function* formatHtml<Row>(sheet: Sheet<Row>): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, asOf, charts } = sheet;
  const tables = [createTablePart(sheet, 'Lines')];
  yield* formatPage({ title, subtitle, asOf, charts: charts ? await charts() : [], tables });
}

/** A self-contained page. Its policy forbids scripts and network access, whatever its texts contain. */
export async function* formatPage(page: Page): AsyncGenerator<string, void, undefined> {
  const { charts, tables } = page;
  const columns = Math.max(0, ...tables.map((table) => table.columns));
  const style = createPageStyle(columns);
  async function* body(): AsyncGenerator<string, void, undefined> {
    if (charts.length > 0)
      yield `<section class="charts" aria-label="Charts">\n${charts.map(formatFigure).join('')}</section>\n`;
    for (const table of tables) yield* table.html();
  }
  yield* formatDocument({ ...page, style, policy: `style-src ${hashSource(style)}`, body: body() });
}

function formatFigure({ title, description, height, marks }: Chart, index: number): string {
  const id = `chart-${index + 1}`;
  return `<figure>
<figcaption dir="auto">${escapeText(title)}</figcaption>
<svg role="img" aria-labelledby="${id}-title ${id}-description" viewBox="0 0 ${chartWidth} ${height}">
<title id="${id}-title">${escapeText(title)}</title><desc id="${id}-description">${escapeText(description)}</desc>
${marks}
</svg>
</figure>
`;
}
