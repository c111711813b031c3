import { formatGroups } from '../../campaign/recipient-guards.ts';
import type { RefusedRun } from '../../domain/problems.ts';
import type { EngineContext } from '../../engine/context.ts';
import { formatLate } from '../../engine/plan/forecast.ts';
import type { PlanEvents, PlanFindings } from '../../engine/plan/plan-run.ts';
import { addRefusalNotifications, type PlanOptions } from '../../engine/plan/plan-run.ts';
import type { PreparedCampaign } from '../../engine/plan/prepare-campaign.ts';
import { type StartedCampaign, type StartRequest, startCampaign } from '../../engine/plan/start-campaign.ts';
import { count } from '../../platform/sentence.ts';
import { printable } from '../../report/printable.ts';
import { screenZone } from '../../report/time.ts';
import { afterRecording } from '../failures.ts';
import { filteredText, originLines, unreadableText, warningText } from '../plans/plan-lines.ts';
import type { Shell } from '../shell.ts';
import { notifyAboutRefusal } from './notify-about-run.ts';
import { stageText, startProgressLine } from './progress.ts';

/** From here on, expanding is worth a line. */
const manyContacts = 100_000;

export async function startWithProgress(
  shell: Shell,
  context: EngineContext,
  request: StartRequest,
  optionsOf: (prepared: PreparedCampaign) => Omit<PlanOptions, 'onRefused' | 'events'>,
): Promise<StartedCampaign> {
  const line = await startProgressLine(shell);
  let read = 0;
  let found: PlanFindings | undefined;
  const eventsOf = ({ kept, contactBytes }: PreparedCampaign, startedAt: number): PlanEvents => ({
    onRead: (contacts) => {
      read += contacts;
      line.show(() =>
        stageText('reading', shell.now().getTime() - startedAt, {
          part: kept.bytesRead(),
          whole: contactBytes,
          done: count(read, 'contact'),
          count: read,
        }),
      );
    },
    onExpand: () => {
      if (read >= manyContacts) line.showNow(`  planning ${count(read, 'contact')}`);
    },
    onFound: (all) => {
      found = all;
    },
  });
  const started = await startCampaign(context, request, (prepared) => {
    shell.endOnStop(
      'Stopped while planning: nothing was sent. A run is made completely or not at all; `volley runs` shows whether it was.',
    );
    return {
      ...optionsOf(prepared),
      events: eventsOf(prepared, shell.now().getTime()),
      onRefused: (refused) => notifyOfRefusal(shell, context, prepared, refused),
    };
  });
  const { run, prepared, unmoved } = started;
  const { filtered, warnings } = prepared.found();
  line.done(`  planned  run ${run}: ${count(read, 'contact')} read${filteredText(filtered)}`);
  if (!found) throw new Error('A run is planned with its findings.');
  const { origins, differing, capped, unfinished, forecast } = found;
  const beyondLimit = found.beyondLimit?.contacts ?? 0;
  for (const text of originLines(origins)) shell.note(text);
  for (const text of [...warnings, ...found.warnings]) shell.note(warningText(text));
  if (prepared.test)
    shell.note('  test     to the addresses of --test-to; nothing reaches those of the rows');
  const sendsRest = `\`volley run ${printable(prepared.path)} --of ${run}\` sends to them`;
  if (capped.length > 0)
    shell.note(`  left out ${printable(formatGroups(capped))}; ${sendsRest} when there is room`);
  if (beyondLimit > 0 && prepared.campaign.value.until)
    shell.note(
      `  rest     ${count(beyondLimit, 'recipient')} ${beyondLimit === 1 ? 'gets' : 'get'} the winner; \`volley serve\` decides, and starts the run that sends it`,
    );
  else if (beyondLimit > 0)
    shell.note(
      `  limit    ${count(beyondLimit, 'recipient')} ${beyondLimit === 1 ? 'is' : 'are'} beyond it; ${sendsRest}`,
    );
  if (unfinished) shell.note(`  unfinished ${printable(unfinished)}`);
  if (differing) shell.note(`  duplicates ${printable(differing)}`);
  if (forecast?.deadline && forecast.deadline.late > 0) {
    const late = formatLate(forecast.deadline, forecast.endsAt, screenZone(shell.noteScreen));
    shell.note(`  deadline ${printable(late)}`);
  }
  const unreadable = prepared.suppressionLists.unreadable();
  if (unreadable.lines > 0) for (const text of unreadableText(unreadable)) shell.note(`  ${text}`);
  for (const { file, reason } of unmoved)
    shell.note(`  ${file} could not be moved (${reason}); later runs skip it anyway.`);
  return started;
}

function notifyOfRefusal(
  shell: Shell,
  context: EngineContext,
  prepared: PreparedCampaign,
  refused: RefusedRun,
): Promise<void> {
  return afterRecording(shell, async () => {
    const notifications = await addRefusalNotifications(context, prepared, refused);
    await notifyAboutRefusal(shell, context, notifications, prepared.absolutePath);
  });
}
