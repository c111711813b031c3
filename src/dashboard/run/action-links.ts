import { hasEnded } from '../../domain/runs.ts';
import type { LiveRun } from '../../engine/live/live-runs.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { runPath } from '../paths.ts';

type Link = { readonly href: string; readonly text: string };

/** What the person may do to the run in its state. Each link leads to a page that asks first. */
export function actionLinks(
  { head, waits, progress }: LiveRun,
  { mayRun, mayApprove, mayAdmin }: Viewer,
): Html | undefined {
  if (!mayRun) return undefined;
  const { run, state } = head;
  const canRerun = hasEnded(state) && head.purgedAt === null;
  const { requests, recipients } = progress.counts;
  const waitsForApproval = waits.some(({ kind }) => kind === 'approval');
  const failed = recipients.rejected + recipients.failed;
  const links: (Link | false)[] = [
    waitsForApproval && mayApprove && { href: runPath(run, 'approve'), text: 'Approve' },
    state === 'running' && { href: runPath(run, 'pause'), text: 'Pause' },
    (state === 'paused' || (state === 'planned' && !waitsForApproval)) && {
      href: runPath(run, 'resume'),
      text: 'Resume',
    },
    !hasEnded(state) && { href: runPath(run, 'cancel'), text: 'Cancel' },
    requests.in_doubt > 0 && mayAdmin && { href: runPath(run, 'doubts'), text: 'Resolve doubts' },
    canRerun &&
      failed > 0 && { href: runPath(run, 'rerun', { only: 'failed' }), text: 'Send again to failed' },
    canRerun &&
      recipients.unknown > 0 && {
        href: runPath(run, 'rerun', { only: 'unknown' }),
        text: 'Send again to unknown',
      },
  ];
  const offered = links.filter((link) => link !== false);
  if (offered.length === 0) return undefined;
  return html`<nav class="actions" id="actions" aria-label="Actions"><ul>${offered.map(
    ({ href, text }) => html`<li><a class="button" href="${href}">${text}</a></li>`,
  )}</ul></nav>`;
}
