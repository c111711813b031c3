import diagnostics from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { exchangePoints, type SignalAtPoint, signalMessage, signalVariable } from './signal-points.ts';

/**
 * Loaded with `node --import` into the command line: kills or stops its process at the n-th occurrence of a
 * point between claim and record. Volley does not know about it.
 */

const value = process.env[signalVariable];
if (value !== undefined) waitForPoint(JSON.parse(value));

function waitForPoint({ signal, point, occurrence }: SignalAtPoint): void {
  let left = occurrence;
  const comeTo = (): void => {
    left--;
    if (left !== 0) return;
    // Not through a stream: the text must be written before the next line, which may be the last.
    writeSync(2, `\n${signalMessage} ${Date.now()} ${point}\n`);
    process.kill(process.pid, signal);
  };
  const exchangeChannel = exchangePoints.get(point);
  if (exchangeChannel !== undefined) {
    diagnostics.subscribe(exchangeChannel, comeTo);
    return;
  }
  diagnostics.subscribe('volley:dispatch', (message) => {
    if (pointOf(message) === point) comeTo();
  });
}

function pointOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'point' in message ? message.point : undefined;
}
