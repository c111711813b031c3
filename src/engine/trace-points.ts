import { channel } from 'node:diagnostics_channel';

/** Steps of dispatch, notification and the watch of variants. Tests end the process at each of them. */
type TracePoint =
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
  | 'notification mailed'
  | 'winner decided'
  | 'rest planned';

const traceChannel = channel('volley:dispatch');

/** Publishes a step to subscribers in this process; free without one. */
export function trace(point: TracePoint, run: string, request?: number): void {
  if (traceChannel.hasSubscribers) traceChannel.publish({ point, run, request });
}
