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
