/** Paper and font size by the number of columns that fit. */
const printLayouts = [
  { columns: 8, paper: 'A4', letters: '8.5pt' },
  { columns: 11, paper: 'A4 landscape', letters: '7.5pt' },
  { columns: 14, paper: 'A4 landscape', letters: '6.5pt' },
] as const;
const densestLayout = { paper: 'A4 landscape', letters: '5.5pt' } as const;

/**
 * Follows the system's light or dark mode, and prints black on white. Colour is never the only signal.
 *
 * @param columns of its widest table
 */
export function createPageStyle(columns: number): string {
  const { paper, letters } = printLayouts.find((each) => columns <= each.columns) ?? densestLayout;
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
  margin: 0 auto; padding: 2rem 1.5rem; max-width: 80rem;
  background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { margin: 0 0 .25rem; font-size: 1.6rem; line-height: 1.2; overflow-wrap: anywhere; }
header p, footer { margin: 0; color: var(--quiet); overflow-wrap: anywhere; }
footer { margin-top: 2rem; font-size: .85rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1.5rem 2.5rem; margin: 1.75rem 0; }
figure { margin: 0; min-width: 0; max-width: 36rem; }
figcaption { margin-bottom: .5rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); font-weight: 600; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; }
svg text { unicode-bidi: plaintext; }
.lines { margin-top: 1.5rem; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { padding-bottom: .5rem; text-align: left; font-weight: 600; overflow-wrap: anywhere; }
th, td { padding: .35rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); font-weight: 400; overflow-wrap: anywhere; min-width: 6rem; }
thead th { font-weight: 600; border-bottom: 2px solid var(--ink); overflow-wrap: normal; vertical-align: bottom; }
tbody tr:nth-child(even) { background: var(--stripe); }
.n, .t span { white-space: nowrap; overflow-wrap: normal; min-width: 0; }
.t { min-width: 0; }
th.n, td.n { text-align: right; }
thead .n { white-space: normal; }
tfoot th, tfoot td { font-weight: 600; border-top: 2px solid var(--ink); border-bottom: 0; }
tfoot tr + tr > * { border-top: 0; }
@page { size: ${paper}; margin: 12mm; }
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --ink: #000000; --quiet: #444444; --line: #bbbbbb; --stripe: #f3f3f3;
    --bar: #1f5fbf; --track: #eaeef2;
  }
  * { print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .charts { grid-template-columns: 1fr 1fr; gap: 1rem 1.5rem; margin: 1rem 0; }
  figure, tr { break-inside: avoid; }
  .lines { overflow: visible; }
  table { font-size: ${letters}; }
  th, td { padding: .2em .3em; min-width: 0; }
  thead { display: table-header-group; }
  tfoot { display: table-row-group; }
}
`;
}
