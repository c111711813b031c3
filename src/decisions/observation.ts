/** A look adds at most this, so that neither a wrong clock nor a time without workers ends an observation. */
const maxLookMs = 10_000;

/**
 * Adds a look to what was observed.
 *
 * @param observedMs until the look before
 * @param sinceLookMs by the clock, which may have been set
 * @returns milliseconds
 */
export function addLook(observedMs: number, sinceLookMs: number): number {
  return observedMs + Math.min(Math.max(sinceLookMs, 0), maxLookMs);
}
