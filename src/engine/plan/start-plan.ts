import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { approvalReason } from '../../campaign/approval.ts';
import type { ApprovalReason } from '../../domain/reasons.ts';
import type { RenderedRow } from '../../domain/rendered-message.ts';
import type { PlanWindow } from '../../ledger/planning/windows.ts';
import { readVersion } from '../../platform/package-folder.ts';
import { count } from '../../platform/sentence.ts';
import type { EngineContext } from '../context.ts';
import { accountsPath, folderOfCampaign } from '../definition-files.ts';
import { windowPlanner } from '../dispatch/windows.ts';
import type { Settings } from '../settings.ts';
import type { ProvablePlan } from './compare-plan.ts';
import { createRanBeforeFinder } from './contact-patterns.ts';
import { chooseDifferingRows } from './differing-rows.ts';
import { comparedPart, type PlanFacts } from './plan-facts.ts';
import { noteSentence, planNotes } from './plan-notes.ts';
import type { PlanRequest } from './planned-campaign.ts';
import { budgetOf, type PlanFigures } from './planned-facts.ts';
import { type PreparedCampaign, prepareCampaign } from './prepare-campaign.ts';
import type { Preview } from './preview.ts';
import { type LeftOutContact, previewCampaign } from './preview-campaign.ts';
import { renderRows } from './render-rows.ts';

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
    keeps: 'digests',
    keepsRows: 'all',
    ranBefore: createRanBeforeFinder(context, request.origin),
  });
  try {
    const files = filesOf(prepared, settings);
    const stamp = await stampOf(files);
    const rows = chooseDifferingRows(prepared, (row) => row >= fromRow && row < fromRow + rowsAtOnce);
    let contacts = 0;
    let facts: PlanFacts | undefined;
    let leftOut: readonly LeftOutContact[] = [];
    const preview = await previewCampaign(prepared, context, {
      rows,
      onRead: (read) => {
        contacts += read;
        onProgress({ contacts, bytesRead: prepared.kept.bytesRead(), bytes: prepared.contactBytes });
      },
      onFacts: (found) => {
        facts = found;
      },
      onLeftOut: (found) => {
        leftOut = found;
      },
    });
    if (!facts) throw new Error('A preview has facts.');
    const { recipients, requests, smsParts, partCauses, cost, variants, forecast } = preview;
    const waiting = variants?.find(({ gets }) => gets === 'winner')?.recipients ?? 0;
    const id = context.randomBytes(16).toString('hex');
    const now = context.now();
    return {
      madeAt: now,
      figures: {
        account: preview.account,
        channel: preview.channel,
        contactsRead: preview.contacts.read,
        recipients,
        requests,
        smsParts,
        partCauses,
        cost,
        variants,
        budget: budgetOf(prepared.campaign.value),
        rejections: groupsOf(leftOut),
        windows: windowsOf(
          windowPlanner(prepared.campaign.value.window, prepared.account.interface, now),
          facts.windows.map((each) => ({ ...each, zones: each.zones.split(',') })),
        ),
        confirmAboveRecipients: prepared.account.confirmAboveRecipients,
        forecast,
      },
      leftOut,
      notes: notesOf(preview),
      repeats: preview.repeats,
      approval: approvalReason(prepared.campaign.value.approval, recipients + waiting, cost) ?? null,
      rows: await renderRows(prepared, rows.chosen(), now),
      rowCount: rows.rows(),
      proof: { id, volley: readVersion(), ...comparedPart(id, prepared, facts) },
      files,
      stamp,
    };
  } finally {
    await prepared.close();
  }
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

export function groupsOf(leftOut: readonly LeftOutContact[]): PlanFigures['rejections'] {
  const groups = new Map(
    leftOut.map(({ reason, column, ofReason }) => [
      JSON.stringify([reason, column]),
      { reason, column, contacts: ofReason },
    ]),
  );
  return [...groups.values()];
}

/** The windows of a plan in the order in which they open. */
export function windowsOf(
  plan: PlanWindow | undefined,
  windows: readonly { readonly zones: readonly string[]; readonly requests: number }[],
): PlanFigures['windows'] {
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
