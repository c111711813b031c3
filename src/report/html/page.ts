import type { Sheet } from '../formats/sheet.ts';
import type { Chart } from './chart.ts';
import { formatChartFigure } from './chart-figure.ts';
import { formatDocument, hashSource } from './document.ts';
import { createPageStyle } from './style.ts';
import { type AllLines, formatHtmlTable } from './table.ts';

export type Page = {
  readonly title: string;
  readonly subtitle: readonly string[];
  readonly asOf: Date;
  readonly charts: readonly Chart[];
  readonly tables: readonly TablePart[];
};

/** Hides the type of its rows from the page. */
export type TablePart = { readonly columns: number; readonly html: () => AsyncIterable<string> };

/** @param allLines how to get all lines of a long table */
export function createTablePart<Row>(sheet: Sheet<Row>, caption: string, allLines?: AllLines): TablePart {
  return { columns: sheet.columns.length, html: () => formatHtmlTable(sheet, caption, allLines) };
}

export async function* formatHtml<Row>(
  sheet: Sheet<Row>,
  allLines?: AllLines,
): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, asOf, charts } = sheet;
  const tables = [createTablePart(sheet, 'Lines', allLines)];
  yield* formatPage({ title, subtitle, asOf, charts: charts ? await charts() : [], tables });
}

/** A self-contained page. Its policy forbids scripts and network access, whatever its texts contain. */
export async function* formatPage(page: Page): AsyncGenerator<string, void, undefined> {
  const { charts, tables } = page;
  const columns = Math.max(0, ...tables.map((table) => table.columns));
  const style = createPageStyle(columns);
  async function* body(): AsyncGenerator<string, void, undefined> {
    if (charts.length > 0)
      yield `<section class="charts" aria-label="Charts">\n${charts.map((chart, index) => formatChartFigure(chart, `chart-${index + 1}`)).join('')}</section>\n`;
    for (const table of tables) yield* table.html();
  }
  yield* formatDocument({ ...page, style, policy: `style-src ${hashSource(style)}`, body: body() });
}
