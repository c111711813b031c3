import {
  bareKind,
  isReasonOf,
  number,
  oneOf,
  orNull,
  type ReasonOf,
  reasonKind,
  text,
  textOrNull,
} from './reason-kind.ts';
import { formatDuration, formatPercent } from './scalar-text.ts';

/** What a canary limits: shares of its recipients. */
export const canaryFailures = ['rejected', 'undelivered', 'unreported'] as const;
export type CanaryFailure = (typeof canaryFailures)[number];

/** What says how many undelivered recipients a guard allows: its own limit, the canary, or former runs of the campaign or account. */
export const guardBases = ['limit', 'canary', 'campaign', 'account'] as const;
export type GuardBasis = (typeof guardBases)[number];

const basisWords: Readonly<Record<Exclude<GuardBasis, 'limit'>, string>> = {
  canary: 'in its canary',
  campaign: 'in the former runs of the campaign',
  account: 'in the former runs of the account',
};

/** `errorRate`: in at most this share of healthy runs, a test of the guard is wrong. */
const tested = { limit: number, errorRate: number };
type Tested = { readonly limit: number; readonly errorRate: number };

/** With at most one decimal. */
const percent = (share: number): string => formatPercent(Math.round(share * 1_000) / 1_000);

const testWords = ({ limit, errorRate }: Tested, test = 'sequential test'): string =>
  `the guard allows ${percent(limit)} (${test}, error rate ${formatPercent(errorRate)})`;

const ofRequests = { requests: number, of: number, ...tested };

/** What a guard finds. */
const guardReasonKinds = {
  /** `destination`: empty: small ones together; null: the whole run. `usual`: a share; null: not what decided. */
  guard_undelivered: reasonKind(
    {
      destination: textOrNull,
      recipients: number,
      of: number,
      basis: oneOf(guardBases),
      usual: orNull(number),
      ...tested,
    },
    ({ destination, recipients, of, basis, usual, ...test }) => {
      const where =
        destination === null ? '' : destination === '' ? ' at small destinations' : ` at ${destination}`;
      const usually =
        usual === null || basis === 'limit' ? '' : `, and ${percent(usual)} ${basisWords[basis]}`;
      return `${recipients} of ${of} recipients${where} are undelivered (${percent(recipients / of)})${usually}; ${testWords(test, 'CUSUM')}`;
    },
  ),
  /** `recipients`: accepted since the last report, each at least so long ago. */
  guard_silent: reasonKind(
    { milliseconds: number, recipients: number },
    ({ milliseconds, recipients }) =>
      `no delivery report has come for ${formatDuration(milliseconds)}, although ${recipients} recipients were accepted before (guard)`,
  ),
  guard_price: reasonKind(
    { recipients: number, of: number, ...tested },
    ({ recipients, of, ...test }) =>
      `the prices of ${recipients} recipients, of ${of} sent ones, are far from the rate card; ${testWords(test)}`,
  ),
  guard_rejected: reasonKind(
    ofRequests,
    ({ requests, of, ...test }) => `the service rejected ${requests} of ${of} requests; ${testWords(test)}`,
  ),
  guard_unknown: reasonKind(
    ofRequests,
    ({ requests, of, ...test }) => `${requests} of ${of} requests are in doubt; ${testWords(test)}`,
  ),
};
export type GuardReason = ReasonOf<typeof guardReasonKinds>;
export const isGuardReason = isReasonOf(guardReasonKinds);

/** The older part of the guard (`dispatch.failFast`): it decides without a test, by the first answers. */
const failFastKinds = {
  /** What answers the first `requests` at `url`: status, media type and first words of the last answer. */
  foreign_answers: reasonKind(
    { requests: number, url: text, words: text },
    ({ requests, url, words }) =>
      `all of the first ${requests} requests are in doubt, because what answers at ${url} is not the interface of the account: ${words} (failFast). See "baseUrl" of the account`,
  ),
  all_rejected: reasonKind(
    { requests: number },
    ({ requests }) => `the service rejected all of the first ${requests} requests (failFast)`,
  ),
  too_many_rejected: reasonKind(
    { rejected: number, requests: number, share: number },
    ({ rejected, requests, share }) =>
      `the service rejected ${rejected} of ${requests} requests, more than ${formatPercent(share)} (failFast)`,
  ),
};
export type FailFastReason = ReasonOf<typeof failFastKinds>;

/** Volley stopped a run that it watches. Its decision (`domain/decisions.ts`) has the test and its error rates. */
export const watchReasonKinds = {
  /** Of so many recipients (`of`), more than `limit` (a share) failed in this way. */
  canary_stopped: reasonKind(
    { what: oneOf(canaryFailures), recipients: number, of: number, limit: number },
    ({ what, recipients, of, limit }) =>
      `of its canary, ${recipients} of ${of} recipients are ${what}, more than ${formatPercent(limit)}`,
  ),
  canary_waits: bareKind('its canary is within its limits, and a person is to promote the run'),
  ...guardReasonKinds,
  ...failFastKinds,
};
export type WatchReason = ReasonOf<typeof watchReasonKinds>;

/** Whether a run is paused until a person promotes it, or has its canary observed again. */
export function isStoppedByCanary(reason: string | { readonly kind: string } | null): boolean {
  return typeof reason === 'object' && (reason?.kind === 'canary_stopped' || reason?.kind === 'canary_waits');
}
