import { channel } from 'node:diagnostics_channel';

/** Steps of dispatch and notification. Tests end the process at each of them. */
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
  | 'notification mailed';

const traceChannel = channel('volley:dispatch');

/** Publishes a step to subscribers in this process; free without one. */
export function trace(point: TracePoint, run: string, request?: number): void {
  if (traceChannel.hasSubscribers) traceChannel.publish({ point, run, request });
}
