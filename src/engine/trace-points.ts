import { channel } from 'node:diagnostics_channel';

/** Where in begin, claim, send and record a dispatch is, and the telling of what became of it. What happens when it ends there is what the tests are about. */
export type TracePoint =
  | 'beginning'
  | 'slice acquired'
  | 'claiming'
  | 'claimed'
  | 'sending'
  | 'answered'
  | 'next attempt'
  | 'recording'
  | 'recorded'
  | 'slice finished'
  | 'at rest'
  | 'run finished'
  | 'notification acquired'
  | 'notification begun'
  | 'notification sent'
  | 'notification mailed';

const traceChannel = channel('volley:dispatch');

/** Tells whoever listens in this process (tracing, tests); costs nothing when nobody does. */
export function trace(point: TracePoint, run: string, request?: number): void {
  if (traceChannel.hasSubscribers) traceChannel.publish({ point, run, request });
}
