/**
 * For tables and charts in any page. The page defines the colours `--page`, `--ink`, `--quiet`, `--line`, `--stripe`,
 * `--bar` and `--track`.
 */
export const partsStyle = `
.charts { columns: 24rem auto; column-gap: 2.5rem; margin: 1.75rem 0; }
figure { margin: 0 0 1.5rem; max-width: 32rem; break-inside: avoid; }
figcaption { margin-bottom: .5rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); font-weight: 600; overflow-wrap: anywhere; }
figure svg { display: block; width: 100%; height: auto; }
figure svg text { unicode-bidi: plaintext; }
.lines { margin-top: 1.5rem; max-height: 85vh; overflow: auto; border: 1px solid var(--line); border-radius: 6px; }
@property --fade { syntax: "<length>"; inherits: false; initial-value: 0px; }
@keyframes fade { from, 95% { --fade: 3rem; } to { --fade: 0px; } }
@media screen {
  /* Where columns are beyond the edge, it fades; without overflow the animation has no timeline. */
  .lines { animation: fade linear both; animation-timeline: scroll(self inline); mask-image: linear-gradient(to right, #000 calc(100% - var(--fade)), transparent); }
}
.lines table { width: 100%; border-collapse: separate; border-spacing: 0; font-size: .875rem; font-variant-numeric: tabular-nums; }
.lines caption { padding: .5rem .6rem; text-align: start; font-weight: 600; overflow-wrap: anywhere; }
.lines :is(th, td) { padding: .35rem .6rem; text-align: start; vertical-align: top; background: var(--page); border-bottom: 1px solid var(--line); font-weight: 400; overflow-wrap: break-word; min-width: 5rem; max-width: 24rem; }
.lines thead th { position: sticky; inset-block-start: 0; z-index: 1; font-weight: 600; border-bottom: 2px solid var(--ink); overflow-wrap: normal; vertical-align: bottom; }
.lines tbody tr:nth-child(even) > * { background: var(--stripe); }
.lines tbody tr:last-child > * { border-bottom: 0; }
@media screen { .lines .s { white-space: nowrap; } .lines .l { min-width: 12rem; overflow-wrap: anywhere; } }
@media screen and (min-width: 48rem) {
  .lines tr > th:first-child { position: sticky; inset-inline-start: 0; z-index: 1; min-width: 8rem; max-width: 20rem; border-inline-end: 1px solid var(--line); }
  .lines thead tr > th:first-child { z-index: 2; }
}
.lines .n, .lines .t span { white-space: nowrap; overflow-wrap: normal; min-width: 0; }
.lines .t { min-width: 0; }
.lines tr > .n:first-child { width: 1%; min-width: 0; }
.lines .n { text-align: end; }
.lines thead .n { white-space: normal; }
.lines tfoot :is(th, td) { font-weight: 600; border-top: 2px solid var(--ink); border-bottom: 0; }
.lines tfoot tr + tr > * { border-top: 0; }
.lines tfoot.few { position: sticky; inset-block-end: 0; z-index: 2; }
.figures { margin-top: .5rem; font-size: .85rem; }
.figures .lines { margin-top: .25rem; max-height: 20rem; }
:is(.figures, .more) > summary { width: fit-content; padding: .25rem 0; color: var(--quiet); cursor: pointer; }
.more > summary { margin-top: .75rem; }
.more .lines { margin-top: .5rem; }
.rest { margin: .75rem 0 0; color: var(--quiet); overflow-wrap: anywhere; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media print {
  .lines { max-height: none; overflow: visible; border: 0; }
  .lines caption { padding-inline: 0; }
  .lines thead th { position: static; }
  .lines :is(th, td) { padding: .2em .3em; min-width: 0; max-width: none; overflow-wrap: anywhere; }
  .lines thead { display: table-header-group; }
  .lines :is(tfoot, tfoot.few) { display: table-row-group; position: static; }
  .lines tr { break-inside: avoid; }
  .figures { display: none; }
}
`;

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
