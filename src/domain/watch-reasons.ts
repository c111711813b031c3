import { canaryFailures } from './decisions.ts';
import { bareKind, number, oneOf, type ReasonOf, reasonKind, text, textOrNull } from './reason-kind.ts';
import { formatDuration, formatPercent } from './scalar-text.ts';

/** Of so many recipients (`of`), more than `limit` (a share) failed in this way. */
const tooMany = { recipients: number, of: number, limit: number };
type TooMany = { readonly recipients: number; readonly of: number; readonly limit: number };

const tooManyWords = (what: string, { recipients, of, limit }: TooMany): string =>
  `${recipients} of ${of} recipients are ${what}, more than ${formatPercent(limit)}`;

/** Volley stopped a run that it watches. Its decision (`domain/decisions.ts`) has the test and its error rates. */
export const watchReasonKinds = {
  canary_stopped: reasonKind(
    { what: oneOf(canaryFailures), ...tooMany },
    ({ what, ...found }) => `of its canary, ${tooManyWords(what, found)}`,
  ),
  canary_waits: bareKind('its canary is within its limits, and a person is to promote the run'),
  guard_undelivered: reasonKind(
    { destination: textOrNull, ...tooMany },
    ({ destination, ...found }) =>
      `${tooManyWords('undelivered', found)}${destination === null ? '' : ` at ${destination}`} (guard)`,
  ),
  guard_silent: reasonKind(
    { milliseconds: number },
    ({ milliseconds }) =>
      `requests are accepted, and no delivery report has come for ${formatDuration(milliseconds)} (guard)`,
  ),
  guard_price: reasonKind({ words: text }, ({ words }) => `${words} (guard)`),
  guard_rejected: reasonKind(tooMany, (found) => `${tooManyWords('rejected', found)} (guard)`),
  guard_unknown: reasonKind(tooMany, (found) => `${tooManyWords('unknown', found)} (guard)`),
};
export type WatchReason = ReasonOf<typeof watchReasonKinds>;

/** Whether a run is paused until a person promotes it, or has its canary observed again. */
export function isStoppedByCanary(reason: string | { readonly kind: string } | null): boolean {
  return typeof reason === 'object' && (reason?.kind === 'canary_stopped' || reason?.kind === 'canary_waits');
}
