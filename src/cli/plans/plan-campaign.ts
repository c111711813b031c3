import { InputError } from '../../domain/problems.ts';
import { findCampaign } from '../../engine/definition-files.ts';
import { createRanBeforeFinder, NothingNewError } from '../../engine/plan/contact-patterns.ts';
import { newPlanId, type PlanFile } from '../../engine/plan/plan-file.ts';
import {
  createPlan,
  type PlanPlace,
  type PlanRequest,
  requireReadableAgain,
} from '../../engine/plan/planned-campaign.ts';
import { type PreparedCampaign, prepareCampaign } from '../../engine/plan/prepare-campaign.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { decidePlan, previewCampaign, readPreview } from '../../engine/plan/preview-campaign.ts';
import { provePlan } from '../../engine/plan/prove-plan.ts';
import { createRowChoice, renderRows } from '../../engine/plan/render-rows.ts';
import { type ChosenRow, isSameFile, type RowChoice, type WantedRow } from '../../engine/plan/row-choice.ts';
import { count } from '../../platform/sentence.ts';
import { formatPreviewPage } from '../../report/html/preview-page.ts';
import { printable } from '../../report/printable.ts';
import { requireNewFile, writeResult } from '../output/write-result.ts';
import { chooseOrigin } from '../runs/choose-run.ts';
import { type Shell, withLedger, withLedgerToPlan } from '../shell.ts';
import { planPlace, requirePlanPlace, writePlan } from './plan-files.ts';
import { previewText } from './preview-text.ts';

type PlanOptions = {
  readonly json?: true;
  readonly contacts?: readonly string[];
  readonly of?: string;
  readonly limit?: number;
  readonly testTo?: readonly string[];
  readonly out?: string;
  readonly preview?: string;
  readonly rows?: readonly WantedRow[];
};

/** `volley plan`. */
export async function planCampaign(
  shell: Shell,
  written: string,
  { json, of, out, preview: page, rows, ...options }: PlanOptions,
): Promise<void> {
  if (rows && page === undefined)
    throw new InputError([
      { where: '--rows', what: 'It chooses the rows of a page; name the page with --preview.' },
    ]);
  shell.endOnStop('Stopped while planning. A plan sends nothing.');
  const path = await findCampaign(written, shell.settings);
  const origin = await chooseOrigin(shell, path, of);
  const { contacts: contactFiles, limit, testTo } = options;
  const request = { contactFiles, origin, limit, testTo };
  const planning = { path, request, page: page === undefined ? undefined : { file: page, rows } };
  const place = out === undefined ? undefined : planPlace(shell, out);
  const { preview, plan } = place
    ? await planInto(shell, planning, place)
    : await previewHere(shell, planning);
  const writes = place !== undefined || page !== undefined;
  shell.print(json ? JSON.stringify(preview) : previewText(preview, shell.screen, writes));
  if (place && plan) await writePlan(shell, place, plan);
}

type Planning = { readonly path: string; readonly request: PlanRequest; readonly page: PageRequest };

/** Undefined `rows`: those that show what differs. Undefined: no page. */
type PageRequest = { readonly file: string; readonly rows: readonly WantedRow[] | undefined } | undefined;

type Planned = { readonly preview: Preview; readonly plan?: PlanFile };

const keptFor = (page: PageRequest) => (page ? 'rows' : undefined);

async function previewHere(shell: Shell, { path, request, page }: Planning): Promise<Planned> {
  const prepared = await prepareCampaign(path, shell.settings, { ...request, keeps: keptFor(page) });
  return planWithPage(shell, prepared, page, async (rows) => ({
    preview: await withLedgerToPlan(shell, (context) => previewCampaign(prepared, context, { rows })),
  }));
}

/** Needs the ledger: a run excludes its suppressions, and what earlier runs sent. */
async function planInto(shell: Shell, { path, request, page }: Planning, place: PlanPlace): Promise<Planned> {
  await requirePlanPlace(shell, place);
  return withLedger(shell, async (context) => {
    const prepared = await prepareCampaign(path, shell.settings, {
      ...request,
      keeps: keptFor(page),
      ranBefore: request.testTo ? undefined : createRanBeforeFinder(context, request.origin),
    }).catch((error: unknown) => {
      if (!(error instanceof NothingNewError)) throw error;
      throw new InputError([{ where: path, what: `${error.message} There is nothing to plan.` }]);
    });
    requireReadableAgain(prepared);
    return planWithPage(shell, prepared, page, (rows) =>
      decidePlan(prepared, context, { rows }, async (client, decided) => {
        const proof = await provePlan(client, newPlanId(context), decided);
        return {
          preview: await readPreview(client, decided),
          plan: createPlan(proof, { madeAt: context.now(), place }, prepared, request),
        };
      }),
    );
  });
}

/** Plans, and writes a page with the messages of some rows. A file that exists is refused before planning. */
async function planWithPage(
  shell: Shell,
  prepared: PreparedCampaign,
  page: PageRequest,
  plan: (choice: RowChoice | undefined) => Promise<Planned>,
): Promise<Planned> {
  if (!page) return plan(undefined);
  const { file: out, rows: wanted } = page;
  await requireNewFile(shell, out);
  const choice = createRowChoice(prepared, wanted);
  const planned = await plan(choice);
  const chosen = choice.chosen();
  if (wanted) requireFound(wanted, chosen, choice.rows());
  const asOf = shell.now();
  const rows = await renderRows(prepared, chosen, asOf);
  await writeResult(shell, formatPreviewPage({ ...planned.preview, asOf, rows }), out);
  shell.note(
    `  preview  ${count(rows.length, 'row')} in ${printable(out)}; the page holds addresses and messages`,
  );
  return planned;
}

function requireFound(wanted: readonly WantedRow[], chosen: readonly ChosenRow[], rows: number): void {
  const numbers = new Set(chosen.map(({ row }) => row));
  const isShown = (file: string, line: number): boolean =>
    chosen.some(({ place }) => place.line === line && isSameFile(place.file, file));
  const missing = wanted.flatMap((each) => {
    if (each.kind === 'number')
      return numbers.has(each.row) ? [] : [`row ${each.row}, but there are only ${count(rows, 'contact')}`];
    const { file, line } = each;
    return isShown(file, line) ? [] : [`${file}:${line}, but no contact begins there`];
  });
  const [first] = missing;
  if (first !== undefined) throw new InputError([{ where: '--rows', what: `It asks for ${first}.` }]);
}
