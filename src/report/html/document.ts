import { createHash } from 'node:crypto';
import { formatUtc } from '../time.ts';
import { escapeText } from './text.ts';

export type HtmlDocument = {
  readonly title: string;
  readonly subtitle: readonly string[];
  readonly asOf: Date;
  readonly style: string;
  /** What the page may load; everything else is forbidden. */
  readonly policy: string;
  readonly body: AsyncIterable<string>;
};

/** For styles and scripts of the page itself. */
export function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

export async function* formatDocument(page: HtmlDocument): AsyncGenerator<string, void, undefined> {
  const { title, subtitle, asOf, style, policy, body } = page;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ${policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Volley">
<title>${escapeText(title)}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1 dir="auto">${escapeText(title)}</h1>
${subtitle.map((line) => `<p dir="auto">${escapeText(line)}</p>\n`).join('')}</header>
<main>
`;
  yield* body;
  yield `</main>
<footer>As of ${formatUtc(asOf)} UTC. Times are UTC unless stated otherwise.</footer>
</body>
</html>
`;
}
