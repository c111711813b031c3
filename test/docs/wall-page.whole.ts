import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { marked } from 'marked';
import { expect, test } from 'vitest';
import { closePages, openBrowser } from '../support/browser.ts';
import { projectFolder, readDocument } from '../support/documents.ts';

const page = 'docs/volley-on-a-page.md';

/** As small as people still read from a wall. */
const style = `@page { size: A4; margin: 10mm } body { font: 9.5pt/1.3 sans-serif; margin: 0 }
  table { border-collapse: collapse; width: 100%; margin: 4pt 0 } td, th { border: 0.5pt solid #999; padding: 1pt 4pt; text-align: left }
  pre { background: #f4f4f4; padding: 4pt; margin: 4pt 0 } h1 { font-size: 14pt; margin: 0 } p, ol { margin: 4pt 0 } img { width: 100% }`;

/** The page as a reader of Markdown shows it. */
async function htmlOfPage(): Promise<string> {
  const html = await marked.parse(readDocument(page));
  const withPictures = html.replace(/src="([^"]+\.svg)"/g, (_, path) => {
    const picture = readFileSync(join(projectFolder, dirname(page), path)).toString('base64');
    return `src="data:image/svg+xml;base64,${picture}"`;
  });
  return `<!doctype html><meta charset="utf-8"><style>${style}</style>${withPictures}`;
}

test('"Volley on a page" is printed on one sheet of A4, with nothing cut off', async () => {
  const browser = await openBrowser();
  try {
    const view = await browser.newPage({ viewport: { width: 718, height: 1047 } });
    await view.setContent(await htmlOfPage());
    const pdf = await view.pdf({ preferCSSPageSize: true });
    expect(pdf.toString('latin1').match(/\/Type \/Page\b/g)).toHaveLength(1);
    expect(await view.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(718);
    const picture = process.env['VOLLEY_TEST_PICTURE'];
    if (picture) await view.screenshot({ path: picture, fullPage: true });
  } finally {
    await closePages();
  }
});
