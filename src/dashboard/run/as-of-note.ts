import { currentFor, type LiveRun } from '../../engine/live/live-runs.ts';
import { time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';

/**
 * Says when the figures were read, if the oldest of them is not current. It stands in a heading, so that nothing moves
 * when it comes and goes.
 */
export function asOfNote(
  { at, asOf }: LiveRun,
  { zone }: Viewer,
  ...names: readonly (keyof LiveRun['asOf'])[]
): Html | undefined {
  const oldest = Math.min(...names.map((name) => (asOf[name] ?? at).getTime()));
  if (at.getTime() - oldest <= currentFor) return undefined;
  return html`<small>as of ${time(new Date(oldest), zone)}</small>`;
}
