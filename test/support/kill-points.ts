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

/** `3 claimed` is the third time that it comes to the point `claimed`. */
export const killVariable = 'KILL_AT_OCCURRENCE_OF_POINT';

/** What a process says last, followed by the time (epoch milliseconds) and the point. */
export const saysKilled = 'killed at';
