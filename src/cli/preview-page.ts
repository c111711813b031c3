import { InputError } from '../domain/problems.ts';
import type { PreparedCampaign } from '../engine/plan/prepare-campaign.ts';
import type { Preview } from '../engine/plan/preview.ts';
import { createRowChoice, renderRows } from '../engine/plan/render-rows.ts';
import { type ChosenRow, isSameFile, type RowChoice, type WantedRow } from '../engine/plan/row-choice.ts';
import { formatPreviewPage } from '../report/html/preview-page.ts';
import { printable } from '../report/printable.ts';
import type { Shell } from './shell.ts';
import { requireNewFile, writeResult } from './write-result.ts';

/** Undefined `rows`: those that show what differs. Undefined: no page. */
export type PageRequest =
  | { readonly file: string; readonly rows: readonly WantedRow[] | undefined }
  | undefined;

/** Plans, and writes a page with the messages of some rows. A file that exists is refused before planning. */
export async function planWithPage(
  shell: Shell,
  prepared: PreparedCampaign,
  page: PageRequest,
  plan: (choice: RowChoice | undefined) => Promise<Preview>,
): Promise<Preview> {
  if (!page) return plan(undefined);
  const { file: out, rows: wanted } = page;
  await requireNewFile(shell, out);
  const choice = createRowChoice(prepared, wanted);
  const preview = await plan(choice);
  const chosen = choice.chosen();
  if (wanted) requireFound(wanted, chosen, choice.rows());
  const asOf = shell.now();
  const rows = await renderRows(prepared, chosen, asOf);
  await writeResult(shell, formatPreviewPage({ ...preview, asOf, rows }), out);
  const count = rows.length === 1 ? '1 row' : `${rows.length} rows`;
  shell.note(`  preview  ${count} in ${printable(out)}; the page holds addresses and messages`);
  return preview;
}

function requireFound(wanted: readonly WantedRow[], chosen: readonly ChosenRow[], rows: number): void {
  const numbers = new Set(chosen.map(({ row }) => row));
  const isShown = (file: string, line: number): boolean =>
    chosen.some(({ place }) => place.line === line && isSameFile(place.file, file));
  const missing = wanted.flatMap((each) => {
    if (each.kind === 'number')
      return numbers.has(each.row) ? [] : [`row ${each.row}, but there are only ${rows} contacts`];
    const { file, line } = each;
    return isShown(file, line) ? [] : [`${file}:${line}, but no contact begins there`];
  });
  const [first] = missing;
  if (first !== undefined) throw new InputError([{ where: '--rows', what: `It asks for ${first}.` }]);
}
