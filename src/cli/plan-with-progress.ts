import { formatDiffering } from '../campaign/recipient-guards.ts';
import type { RefusedRun } from '../domain/problems.ts';
import type { EngineContext } from '../engine/context.ts';
import { formatLate } from '../engine/plan/forecast.ts';
import type { KeptContactFiles } from '../engine/plan/kept-contact-files.ts';
import { addRefusalNotifications, type PlanOptions, planRun } from '../engine/plan/plan-run.ts';
import type { PreparedCampaign } from '../engine/plan/prepare-campaign.ts';
import type { PlanProgress } from '../engine/plan/start-planning.ts';
import { printable } from '../report/printable.ts';
import { screenZone } from '../report/time.ts';
import { afterRecording } from './after-recording.ts';
import { notifyAboutRefusal } from './notify-about-run.ts';
import { originLines, unreadableText, warningText } from './preview-text.ts';
import { stageText, startProgressLine } from './progress.ts';
import type { Shell } from './shell.ts';

/** From here on, expanding is worth a line. */
const manyContacts = 100_000;

export async function planWithProgress(
  shell: Shell,
  context: EngineContext,
  {
    prepared,
    kept,
    ...options
  }: Omit<PlanOptions, 'onRefused'> & {
    readonly prepared: PreparedCampaign;
    readonly kept: KeptContactFiles;
  },
): Promise<string> {
  const line = await startProgressLine(shell);
  const startedAt = shell.now().getTime();
  let read = 0;
  let differing: string | undefined;
  let late: string | undefined;
  let origins: readonly string[] = [];
  let beyondLimit = 0;
  let unfinished: string | undefined;
  const onRefused = async (refused: RefusedRun): Promise<void> =>
    afterRecording(shell, async () =>
      notifyAboutRefusal(
        shell,
        context,
        await addRefusalNotifications(context, prepared, refused),
        prepared.absolutePath,
      ),
    );
  const planProgress: PlanProgress = {
    onRead: (contacts) => {
      read += contacts;
      line.show(() =>
        stageText('reading', shell.now().getTime() - startedAt, {
          part: kept.bytesRead(),
          whole: prepared.contactBytes,
          done: `${read} contacts`,
          count: read,
        }),
      );
    },
    onExpand: () => {
      if (read >= manyContacts) line.showNow(`  planning ${read} contacts`);
    },
    onOrigins: (found, reached) => {
      origins = originLines({ ...found, reached });
    },
    onRepeated: (repeated, locate) => {
      differing = formatDiffering(repeated, locate);
    },
    onBeyondLimit: (rows) => {
      beyondLimit = rows;
    },
    onUnfinished: (warning) => {
      unfinished = warning;
    },
    onForecast: ({ deadline, endsAt }) => {
      if (deadline && deadline.late > 0) late = formatLate(deadline, endsAt, screenZone(shell.noteScreen));
    },
  };
  shell.endOnStop(
    'Stopped while planning: nothing was sent. A run is made completely or not at all; `volley runs` shows whether it was.',
  );
  const run = await planRun(context, prepared, kept, planProgress, { ...options, onRefused });
  const { filtered, warnings } = prepared.found();
  const others = filtered === 0 ? '' : `; ${filtered} more excluded by contacts.where`;
  line.done(`  planned  run ${run}: ${read} ${read === 1 ? 'contact' : 'contacts'} read${others}`);
  for (const text of origins) shell.note(text);
  for (const text of warnings) shell.note(warningText(text));
  if (prepared.test)
    shell.note('  test     to the addresses of --test-to; nothing reaches those of the rows');
  if (beyondLimit > 0)
    shell.note(
      `  limit    ${beyondLimit} recipients are beyond it; \`volley run ${printable(prepared.path)} --of ${run}\` sends to them`,
    );
  if (unfinished !== undefined) shell.note(`  unfinished ${printable(unfinished)}`);
  if (differing !== undefined) shell.note(`  duplicates ${printable(differing)}`);
  if (late !== undefined) shell.note(`  deadline ${printable(late)}`);
  const unreadable = prepared.suppressionLists.unreadable();
  if (unreadable.lines > 0) for (const text of unreadableText(unreadable)) shell.note(`  ${text}`);
  return run;
}
