import diagnostics from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { exchangePoints, killVariable, saysKilled } from './kill-points.ts';

/**
 * Loaded into the real command line with `node --import`: ends its process with SIGKILL the moment it comes to a point
 * of the claim–send–record path for the n-th time. Volley knows nothing of it.
 */

const [, occurrence = '', wanted = ''] = /^(\d+) (.+)$/.exec(process.env[killVariable] ?? '') ?? [];
let left = Number(occurrence);

function comesTo(point: unknown): void {
  if (point !== wanted) return;
  left--;
  if (left > 0) return;
  // Not through a stream: it must be written when the next line is run, which is the last.
  writeSync(2, `\n${saysKilled} ${Date.now()} ${point}\n`);
  process.kill(process.pid, 'SIGKILL');
}

if (left > 0) {
  const channel = exchangePoints.get(wanted);
  if (channel === undefined) {
    diagnostics.subscribe('volley:dispatch', (message) => comesTo(pointOf(message)));
  } else {
    diagnostics.subscribe(channel, () => comesTo(wanted));
  }
}

function pointOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'point' in message ? message.point : undefined;
}
