import { canaryFailures } from './decisions.ts';
import {
  bareKind,
  isReasonOf,
  number,
  oneOf,
  orNull,
  type ReasonOf,
  reasonKind,
  textOrNull,
} from './reason-kind.ts';
import { formatDuration, formatPercent } from './scalar-text.ts';

/** Of so many recipients (`of`), more than `limit` (a share) failed in this way. */
const tooMany = { recipients: number, of: number, limit: number };
type TooMany = { readonly recipients: number; readonly of: number; readonly limit: number };

const tooManyWords = (what: string, { recipients, of, limit }: TooMany): string =>
  `${recipients} of ${of} recipients are ${what}, more than ${formatPercent(limit)}`;

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

/** A test, and the numbers that it decided by. */
export type GuardTest = {
  readonly name: string;
  /** The logarithm of an e-value, and what is needed of it. */
  readonly evidence: number;
  readonly needed: number;
  /** In at most this share of healthy runs, the tests of a guard together find anything. */
  readonly errorRate: number;
};

/** What a guard found. `test`: null for what needs none. */
export type GuardRecord = { readonly reason: GuardReason; readonly test: GuardTest | null };

/** Volley stopped a run that it watches. Its decision (`domain/decisions.ts`) has the test and its error rates. */
export const watchReasonKinds = {
  canary_stopped: reasonKind(
    { what: oneOf(canaryFailures), ...tooMany },
    ({ what, ...found }) => `of its canary, ${tooManyWords(what, found)}`,
  ),
  canary_waits: bareKind('its canary is within its limits, and a person is to promote the run'),
  ...guardReasonKinds,
};
export type WatchReason = ReasonOf<typeof watchReasonKinds>;

/** Whether a run is paused until a person promotes it, or has its canary observed again. */
export function isStoppedByCanary(reason: string | { readonly kind: string } | null): boolean {
  return typeof reason === 'object' && (reason?.kind === 'canary_stopped' || reason?.kind === 'canary_waits');
}
