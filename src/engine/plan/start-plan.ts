import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Approval, approvalReason } from '../../campaign/approval.ts';
import { sumParts } from '../../campaign/cost.ts';
import type { ApprovalReason } from '../../domain/reasons.ts';
import type { RenderedRow } from '../../domain/rendered-message.ts';
import type { Account } from '../../gateway/account.ts';
import { withRest } from '../../ledger/planning/planned-run.ts';
import type { PlanWindow, WindowTotals } from '../../ledger/planning/windows.ts';
import type { Transaction } from '../../ledger/session.ts';
import { count } from '../../platform/sentence.ts';
import type { EngineContext } from '../context.ts';
import { accountsPath, folderOfCampaign } from '../definition-files.ts';
import type { Settings } from '../settings.ts';
import { createRanBeforeFinder } from './contact-patterns.ts';
import { chooseDifferingRows } from './differing-rows.ts';
import { newPlanId, type ProvablePlan } from './plan-file.ts';
import { noteSentence, planNotes } from './plan-notes.ts';
import type { PlanRequest } from './planned-campaign.ts';
import { budgetOf, type PlanFigures } from './planned-facts.ts';
import { type PreparedCampaign, prepareCampaign } from './prepare-campaign.ts';
import type { Preview } from './preview.ts';
import { decidePlan, type LeftOutContact, readLeftOut, readPreview } from './preview-campaign.ts';
import { type PreviewedPlan, provePlan } from './prove-plan.ts';
import { renderRows } from './render-rows.ts';
import type { StagedCampaign } from './stage-campaign.ts';

/**
 * What a start would send: what its page shows, and what its run then proves. Plain data; of contacts, it has the rows
 * that the page shows.
 */
export type StartPlan = {
  readonly madeAt: Date;
  readonly figures: PlanFigures;
  /** The first contacts that are left out for each reason. */
  readonly leftOut: readonly LeftOutContact[];
  /** What the person should know before the start, in sentences. */
  readonly notes: readonly string[];
  /** Why the run would be refused as a repetition of another run; the person decides. */
  readonly repeats: string | null;
  /** Why the run would wait for another person. */
  readonly approval: ApprovalReason | null;
  /** Messages of rows that differ, and of the rows that the person asked for. */
  readonly rows: readonly RenderedRow[];
  /** All rows that can be shown. */
  readonly rowCount: number;
  readonly proof: ProvablePlan;
  /** The files that it was made of, as they were. */
  readonly files: readonly string[];
  readonly stamp: string;
};

/** How far the contact files are read. `bytes` is undefined where their size is not known. */
export type PlanProgress = {
  readonly contacts: number;
  readonly bytesRead: number;
  readonly bytes: number | undefined;
};

/** So many rows from the one that a person asks for: the next ones are there then. */
export const rowsAtOnce = 10;

/**
 * Plans a campaign for the page that starts it, as `volley plan --out` does. Sends and writes nothing.
 *
 * @param path of the campaign
 * @param fromRow number of the first row that the person asks for
 * @param onProgress called for each batch; by throwing it ends the planning
 * @throws InputError as `prepareCampaign` and `previewCampaign` do
 * @throws NothingNewError when every matching contact file has run already
 */
export async function planStart(
  context: EngineContext,
  { path, settings, ...request }: PlanRequest & { readonly path: string; readonly settings: Settings },
  fromRow: number,
  onProgress: (progress: PlanProgress) => void,
): Promise<StartPlan> {
  const prepared = await prepareCampaign(path, settings, {
    ...request,
    keeps: 'rows',
    ranBefore: createRanBeforeFinder(context, request.origin),
  });
  try {
    const files = filesOf(prepared, settings);
    const stamp = await stampOf(files);
    const rows = chooseDifferingRows(prepared, (row) => row >= fromRow && row < fromRow + rowsAtOnce);
    let contacts = 0;
    const onRead = (read: number): void => {
      contacts += read;
      onProgress({ contacts, bytesRead: prepared.kept.bytesRead(), bytes: prepared.contactBytes });
    };
    return await decidePlan(prepared, context, { rows, onRead }, async (client, plan) => {
      const { account } = prepared;
      const definition = prepared.campaign.value;
      const { placeOf } = plan.staged;
      const proof = await provePlan(client, newPlanId(context), plan);
      const preview = await readPreview(client, plan);
      const planned = { ...plan, account, definition, approval: definition.approval, placeOf };
      return {
        ...(await readStartPlan(client, planned, { ...preview, forecast: plan.forecast })),
        notes: notesOf(preview),
        repeats: preview.repeats,
        rows: await renderRows(prepared, rows.chosen(), plan.now),
        rowCount: rows.rows(),
        proof,
        files,
        stamp,
      };
    });
  } finally {
    await prepared.close();
  }
}

type PlanToStart = Pick<PreviewedPlan, 'rules' | 'decided' | 'cost' | 'windowTotals' | 'now'> & {
  readonly account: Account;
  /** Of the campaign, or as frozen in the run. */
  readonly definition: unknown;
  readonly approval: Approval | undefined;
  readonly placeOf: StagedCampaign['placeOf'];
};

/** Reads what starts of campaigns and reruns show. */
export async function readStartPlan(
  client: Transaction,
  { rules, decided, cost, windowTotals, now, account, definition, approval, placeOf }: PlanToStart,
  { partCauses, variants, forecast }: Pick<PlanFigures, 'partCauses' | 'variants' | 'forecast'>,
): Promise<Pick<StartPlan, 'madeAt' | 'figures' | 'leftOut' | 'approval'>> {
  const { contacts, recipients, requests, totals } = decided;
  const leftOut = await readLeftOut(client, rules, placeOf);
  return {
    madeAt: now,
    figures: {
      account: account.name,
      channel: rules.channel,
      contactsRead: contacts.read,
      recipients,
      requests,
      smsParts: sumParts(totals, rules.channel),
      cost,
      budget: budgetOf(definition),
      rejections: groupsOf(leftOut),
      windows: windowsOf(rules.window, windowTotals),
      confirmAboveRecipients: account.confirmAboveRecipients,
      partCauses,
      variants,
      forecast,
    },
    leftOut,
    approval: approvalReason(approval, withRest(decided).recipients, cost) ?? null,
  };
}

function notesOf(preview: Preview): string[] {
  const { filtered, invalidBecause, differing, warnings, unfinished } = preview;
  return [
    ...(filtered ? [`${count(filtered, 'row')} of the files are excluded by "contacts.where".`] : []),
    ...(invalidBecause.length > 0 ? [`Invalid: ${invalidBecause.join('; ')}.`] : []),
    ...[differing, unfinished].filter((text) => text !== null),
    ...warnings.map((text) => `${text}.`),
    ...planNotes(preview).map(noteSentence),
  ];
}

function groupsOf(leftOut: readonly LeftOutContact[]): PlanFigures['rejections'] {
  const groups = new Map(
    leftOut.map(({ reason, column, ofReason }) => [
      JSON.stringify([reason, column]),
      { reason, column, contacts: ofReason },
    ]),
  );
  return [...groups.values()];
}

/** The windows of a plan in the order in which they open. */
function windowsOf(plan: PlanWindow | undefined, windows: readonly WindowTotals[]): PlanFigures['windows'] {
  if (!plan) return [];
  return windows
    .map(({ zones, requests }) => {
      const { handover, ...times } = plan(zones);
      return { zones, ...times, sendAt: handover?.at ?? null, requests };
    })
    .toSorted((one, other) => (one.opensAt?.getTime() ?? 0) - (other.opensAt?.getTime() ?? 0));
}

/** The files whose change makes a plan stale: what changes in the ledger is found by the start. */
function filesOf(
  { campaign, path, absolutePath, workingFolder }: PreparedCampaign,
  settings: Settings,
): string[] {
  const folder = folderOfCampaign(path, settings);
  const contactFiles = campaign.value.contacts.file.map((name) => resolve(folder, name));
  return [absolutePath, resolve(workingFolder, accountsPath(settings)), ...contactFiles];
}

/** Changes with the size and the time of a file. */
export async function stampOf(files: readonly string[]): Promise<string> {
  const found = await Promise.all(files.map((file) => stat(file).catch(() => undefined)));
  return found.map((file) => `${file?.size} ${file?.mtimeMs}`).join();
}
