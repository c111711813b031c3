/** Volley's own points, in order, published on the diagnostics channel `volley:dispatch`. */
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

/** Points of an exchange, with undici's diagnostics channels. */
export const exchangePoints: ReadonlyMap<string, string> = new Map([
  // Just before the header is written.
  ['header', 'undici:client:sendHeaders'],
  // The operating system has the whole request, and sends it even if the process dies.
  ['body sent', 'undici:request:bodySent'],
  ['answer begun', 'undici:request:headers'],
  ['answer whole', 'undici:request:trailers'],
]);

/** A process sends itself this signal at the n-th occurrence of a point. */
export type SignalAtPoint = {
  readonly signal: 'SIGKILL' | 'SIGSTOP';
  readonly point: string;
  readonly occurrence: number;
};

/** Environment variable for the preload; contains a `SignalAtPoint` in JSON. */
export const signalVariable = 'SIGNAL_AT_POINT';

/** Printed before the signal, followed by epoch milliseconds and the point. */
export const signalMessage = 'sends itself a signal at';
