import { createHash } from 'node:crypto';
import type { AsOf } from '../../domain/replica.ts';
import type { Sheet } from '../formats/sheet.ts';
import { formatAsOf } from '../time.ts';
import { type Chart, chartFigure } from './chart.ts';
import { type Html, html } from './html.ts';
import { createPageStyle } from './style.ts';
import { formatHtmlTable } from './table.ts';

export type Page = {
  readonly title: string;
  readonly subtitle: readonly string[];
  readonly asOf: AsOf;
  readonly charts: readonly Chart[];
  readonly tables: readonly TablePart[];
};

/** Hides the type of its rows from the page. */
type TablePart = { readonly columns: number; readonly html: () => AsyncIterable<Html> };

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
  async function* body(): AsyncGenerator<Html, void, undefined> {
    const figures = charts.map((chart, index) => chartFigure(chart, `chart-${index + 1}`));
    if (figures.length > 0)
      yield html`<section class="charts" aria-label="Charts">
${figures}</section>
`;
    for (const table of tables) yield* table.html();
  }
  const hash = createHash('sha256').update(style).digest('base64');
  yield* formatDocument({ ...page, style, policy: `style-src 'sha256-${hash}'`, body: body() });
}

type HtmlDocument = Pick<Page, 'title' | 'subtitle' | 'asOf'> & {
  readonly style: string;
  /** What the page may load; everything else is forbidden. */
  readonly policy: string;
  readonly body: AsyncIterable<Html>;
};

export async function* formatDocument(page: HtmlDocument): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, asOf, policy, body } = page;
  const style: Html = { kind: 'html', text: page.style };
  yield html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${{ kind: 'html', text: policy }}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Volley">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1 dir="auto">${title}</h1>
${subtitle.map(
  (line) => html`<p dir="auto">${line}</p>
`,
)}</header>
<main>
`.text;
  for await (const part of body) yield part.text;
  yield `</main>
<footer>As of ${formatAsOf(asOf)}. Times are UTC unless stated otherwise.</footer>
</body>
</html>
`;
}
