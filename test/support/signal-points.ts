/** Volley's own, in the order of a request's way: published on Node's diagnostics channel `volley:dispatch`. */
export const dispatchPoints = [
  'slice acquired',
  'claiming',
  'claimed',
  'sending',
  'answered',
  'next attempt',
  'recording',
  'recorded',
  'slice finished',
  'run finished',
] as const;

/** What undici tells of an exchange, and the diagnostics channel it tells it on. */
export const exchangePoints: ReadonlyMap<string, string> = new Map([
  // Right before the header is written.
  ['header', 'undici:client:sendHeaders'],
  // The whole request is with the operating system, which sends it though the process is dead.
  ['body sent', 'undici:request:bodySent'],
  ['answer begun', 'undici:request:headers'],
  ['answer whole', 'undici:request:trailers'],
]);

/** The signal a process sends itself when it comes to a point for the n-th time. */
export type SignalAtPoint = {
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  readonly point: string;
  readonly occurrence: number;
};

/** A variable of the environment that only the preload knows; its value is a `SignalAtPoint` in JSON. */
export const signalVariable = 'SIGNAL_AT_POINT';

/** What a process says last before the signal, followed by the time (epoch milliseconds) and the point. */
export const signalMessage = 'sends itself a signal at';
