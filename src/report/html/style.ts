import { partsStyle } from './parts-style.ts';

/** Paper and font size by the number of columns that fit. */
const printLayouts = [
  { columns: 8, paper: 'A4', letters: '8.5pt', charts: 2 },
  { columns: 11, paper: 'A4 landscape', letters: '7.5pt', charts: 3 },
  { columns: 14, paper: 'A4 landscape', letters: '6.5pt', charts: 3 },
] as const;
const densestLayout = { paper: 'A4 landscape', letters: '5.5pt', charts: 3 } as const;

/**
 * Follows the system's light or dark mode, and prints black on white. Colour is never the only signal.
 *
 * @param columns of its widest table
 */
export function createPageStyle(columns: number): string {
  const { paper, letters, charts } = printLayouts.find((each) => columns <= each.columns) ?? densestLayout;
  return `
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1b1f24; --quiet: #57606a; --line: #d8dee4; --stripe: #f6f8fa;
  --bar: #1f5fbf; --track: #eaeef2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10141a; --ink: #e6edf3; --quiet: #9aa4af; --line: #30363d; --stripe: #171c23;
    --bar: #5b9cf5; --track: #232a33;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.5rem; max-width: 112rem;
  background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { margin: 0 0 .25rem; font-size: 1.6rem; line-height: 1.2; overflow-wrap: anywhere; }
header p, footer { margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
footer { margin-top: 2rem; font-size: .85rem; }
${partsStyle}@media (max-width: 40rem) { body { padding: 1.25rem 1rem; } }
:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; }
@page { size: ${paper}; margin: 12mm; }
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --ink: #000000; --quiet: #444444; --line: #bbbbbb; --stripe: #f3f3f3;
    --bar: #1f5fbf; --track: #eaeef2;
  }
  * { print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .charts { columns: ${charts}; column-gap: 1.5rem; margin: 1rem 0; }
  figure { margin-bottom: 1rem; }
  .lines table { font-size: ${letters}; }
}
`;
}
