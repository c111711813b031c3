import { InputError } from '../../domain/problems.ts';
import { findCampaign } from '../../engine/definition-files.ts';
import { createRanBeforeFinder, NothingNewError } from '../../engine/plan/contact-patterns.ts';
import type { PlanFacts } from '../../engine/plan/plan-facts.ts';
import {
  createPlan,
  type PlanPlace,
  type PlanRequest,
  requireReadableAgain,
} from '../../engine/plan/planned-campaign.ts';
import { type PreparedCampaign, prepareCampaign } from '../../engine/plan/prepare-campaign.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { previewCampaign } from '../../engine/plan/preview-campaign.ts';
import { createRowChoice, renderRows } from '../../engine/plan/render-rows.ts';
import { type ChosenRow, isSameFile, type RowChoice, type WantedRow } from '../../engine/plan/row-choice.ts';
import { readVersion } from '../../platform/package-folder.ts';
import { count } from '../../platform/sentence.ts';
import { formatPreviewPage } from '../../report/html/preview-page.ts';
import { printable } from '../../report/printable.ts';
import { requireNewFile, writeResult } from '../output/write-result.ts';
import { chooseOrigin } from '../runs/choose-run.ts';
import { type Shell, withLedger, withLedgerToPlan } from '../shell.ts';
import { newPlanId, planPlace, requirePlanPlace, writePlan } from './plan-files.ts';
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
  const pageRequest = page === undefined ? undefined : { file: page, rows };
  const { preview, write } =
    out === undefined
      ? { preview: await previewHere(shell, path, request, pageRequest), write: undefined }
      : await planInto(shell, path, { request, place: planPlace(shell, out), page: pageRequest });
  shell.print(
    json
      ? JSON.stringify(preview)
      : previewText(preview, shell.screen, write !== undefined || pageRequest !== undefined),
  );
  await write?.();
}

async function previewHere(
  shell: Shell,
  path: string,
  request: PlanRequest,
  page: PageRequest,
): Promise<Preview> {
  const prepared = await prepareCampaign(path, shell.settings, {
    ...request,
    keepsRows: page === undefined ? 'costly' : 'all',
  });
  return planWithPage(shell, prepared, page, (rows) =>
    withLedgerToPlan(shell, (context) => previewCampaign(prepared, context, { rows })),
  );
}

/** Needs the ledger: a run excludes its suppressions, and what earlier runs sent. */
async function planInto(
  shell: Shell,
  path: string,
  {
    request,
    place,
    page,
  }: { readonly request: PlanRequest; readonly place: PlanPlace; readonly page: PageRequest },
): Promise<{ readonly preview: Preview; readonly write: () => Promise<void> }> {
  await requirePlanPlace(shell, place);
  return withLedger(shell, async (context) => {
    const keepsRows = page === undefined ? 'costly' : 'all';
    const ranBefore = request.testTo ? undefined : createRanBeforeFinder(context, request.origin);
    const prepared = await prepareCampaign(path, shell.settings, {
      ...request,
      keeps: 'digests',
      keepsRows,
      ranBefore,
    }).catch((error: unknown) => {
      if (!(error instanceof NothingNewError)) throw error;
      throw new InputError([{ where: path, what: `${error.message} There is nothing to plan.` }]);
    });
    requireReadableAgain(prepared);
    let facts: PlanFacts | undefined;
    const onFacts = (found: PlanFacts): void => {
      facts = found;
    };
    const preview = await planWithPage(shell, prepared, page, (rows) =>
      previewCampaign(prepared, context, { onFacts, rows }),
    );
    if (!facts) throw new Error('A preview has facts.');
    const head = { id: newPlanId(), volley: readVersion(), madeAt: context.now() };
    const plan = createPlan({ ...head, place }, prepared, request, facts);
    return { preview, write: () => writePlan(shell, place, plan) };
  });
}

/** Undefined `rows`: those that show what differs. Undefined: no page. */
type PageRequest = { readonly file: string; readonly rows: readonly WantedRow[] | undefined } | undefined;

/** Plans, and writes a page with the messages of some rows. A file that exists is refused before planning. */
async function planWithPage(
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
  shell.note(
    `  preview  ${count(rows.length, 'row')} in ${printable(out)}; the page holds addresses and messages`,
  );
  return preview;
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
