import { channels } from '../domain/message.ts';
import {
  type ApprovalReason,
  type BareReasonKind,
  type DuplicateReason,
  type HoldReason,
  type ReachedReason,
  type Reason,
  type RejectionDetail,
  type RequestReason,
  type RunReason,
  type SuppressedReason,
  type TickReason,
  withheldCauses,
} from '../domain/reasons.ts';
import { resolutions } from '../domain/runs.ts';
import { suppressionSources } from '../domain/suppressions.ts';

/** SQL: a reason without values. */
export function reasonOf(kind: BareReasonKind): string {
  return `jsonb_build_object('kind', '${kind}')`;
}

/** SQL: the reason of a request that was sent again after a doubt, and ended in this state with these words. */
export function resentReason(state: string, words: string): string {
  return `jsonb_build_object('kind', 'resent', 'state', ${state}, 'words', ${words})`;
}

/** Writes a jsonb parameter, which can hold neither NUL nor lone surrogates. */
export function reasonValue(reason: Reason): string;
export function reasonValue(reason: Reason | null): string | null;
export function reasonValue(reason: Reason | null): string | null {
  if (reason === null) return null;
  return JSON.stringify(reason, (_, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value,
  );
}

/** A row before its reason is decoded. */
export type Stored<Row, Column extends keyof Row = 'reason' & keyof Row> = Omit<Row, Column> &
  Readonly<Record<Column, unknown>>;

type Guard<Value> = (value: unknown) => value is Value;

/** Members of a union with a kind, and with this kind. */
type Kinded<Of> = Extract<Of, { readonly kind: string }>;
type OfKind<Of, Kind> = Of extends { readonly kind: infer Kinds } ? (Kind extends Kinds ? Of : never) : never;

/** Guards for the fields of each kind; the type keeps them complete. */
type Kinds<Of> = {
  readonly [Kind in Kinded<Of>['kind']]: {
    readonly [Field in Exclude<keyof OfKind<Of, Kind>, 'kind'>]: Guard<OfKind<Of, Kind>[Field]>;
  };
};

const text: Guard<string> = (value) => typeof value === 'string';
const number: Guard<number> = (value) => typeof value === 'number';
const flag: Guard<boolean> = (value) => typeof value === 'boolean';
const texts: Guard<readonly string[]> = (value) => Array.isArray(value) && value.every(text);
const textOrNull = orNull(text);

const unrecorded = {
  ledger_restored: { since: text, words: text },
  untried_proof: { messageId: text },
};

export const requestReasonKinds: Kinds<RequestReason> = {
  job_number: { jobNumber: text },
  repeated_job_number: { jobNumber: text },
  reported: {},
  looked_up: {},
  worker_ended: {},
  // Deferred: it refers to itself.
  resent: { state: oneOf(['rejected', 'failed']), words: (value) => orNull(isRequestReason)(value) },
  run_cancelled: {},
  run_cancelled_before_resend: {},
  all_suppressed: {},
  all_suppressed_before_resend: {},
  suppressed: {},
  withheld: { because: oneOf(withheldCauses) },
  claim_unanswered: {},
  resolved: { resolution: oneOf(resolutions), by: text, words: text },
  ...unrecorded,
};

export const approvalReasonKinds: Kinds<ApprovalReason> = {
  every_run: {},
  many_recipients: { recipients: number, limit: number },
  high_cost: { cost: text, currency: text, limit: text },
  unknown_cost: { words: text },
};

const moved = { was: text, is: text };

export const holdReasonKinds: Kinds<HoldReason> = {
  former_backup: {},
  lacks_claim: { at: text },
  lacks_attempt: {},
  other_server: moved,
  other_timeline: moved,
  other_database: moved,
  being_restored: { words: text },
};

export const runReasonKinds: Kinds<RunReason> = {
  interrupted: {},
  waits_for_approval: { why: ofKinds<ApprovalReason>(approvalReasonKinds) },
  approved: { by: text },
  foreign_answers: { requests: number, url: text, words: text },
  all_rejected: { requests: number },
  too_many_rejected: { rejected: number, requests: number, share: number },
  credential_refused: { account: text, words: text },
  service_refuses: { account: text, milliseconds: number, words: text },
  doubts_reopened: { run: text },
  ledger_held: { hold: ofKinds<HoldReason>(holdReasonKinds) },
  ...unrecorded,
};

export const tickReasonKinds: Kinds<TickReason> = {
  no_worker: { catchUpMilliseconds: number },
  run_not_over: { run: text },
  ledger_restored_since: { words: text },
};

const runOnly = { run: text };
const reachedReasonKinds: Kinds<ReachedReason> = {
  sent: runOnly,
  to_be_sent: runOnly,
  may_have_been_sent: runOnly,
  sent_again: runOnly,
};
const repeatedReasonKinds: Kinds<DuplicateReason> = {
  same_contact: { key: texts, file: textOrNull, line: number, differs: flag },
};
const suppressedReasonKinds: Kinds<SuppressedReason> = {
  suppressed_address: {
    channel: oneOf(channels),
    subAccount: text,
    source: oneOf(suppressionSources),
    reason: text,
    run: textOrNull,
  },
  suppressed_hash: { channel: oneOf(channels), subAccount: text },
  listed: { file: text, line: number },
  sent_recently: { milliseconds: number, run: textOrNull },
};
export const leftOutReasonKinds: Kinds<RejectionDetail> = {
  ...reachedReasonKinds,
  ...repeatedReasonKinds,
  ...suppressedReasonKinds,
};

const isRequestReason: Guard<RequestReason> = either(text, ofKinds<RequestReason>(requestReasonKinds));
const isRunReason: Guard<RunReason> = either(text, ofKinds<RunReason>(runReasonKinds));
const isTickReason: Guard<TickReason> = either(text, ofKinds<TickReason>(tickReasonKinds));

export const requestReason = decoder(orNull(isRequestReason));
export const runReason = decoder(orNull(isRunReason));
export const holdReason = decoder(orNull(ofKinds<HoldReason>(holdReasonKinds)));
export const approvalReason = decoder(ofKinds<ApprovalReason>(approvalReasonKinds));
export const tickReason = decoder(orNull(isTickReason));
/** Of a notification: the reason of the run's state, or of a tick without a run. */
export const notifiedReason = decoder(orNull(either(isRunReason, isTickReason)));
export const reachedReason = decoder(ofKinds<ReachedReason>(reachedReasonKinds));
export const repeatedReason = decoder(ofKinds<DuplicateReason>(repeatedReasonKinds));
export const suppressedReason = decoder(ofKinds<SuppressedReason>(suppressedReasonKinds));
export const leftOutReason = decoder(either(text, ofKinds<RejectionDetail>(leftOutReasonKinds)));

/** @throws Error for an unknown reason, from another version or a manual change */
function decoder<Value>(isValue: Guard<Value>): (stored: unknown) => Value {
  return (stored) => {
    if (isValue(stored)) return stored;
    const found = JSON.stringify(stored);
    throw new Error(`The ledger contains a reason that this version of Volley does not know: ${found}`);
  };
}

function ofKinds<Of>(kinds: Kinds<Of>): Guard<Kinded<Of>> {
  const fieldsOf = new Map(
    Object.entries<Readonly<Record<string, Guard<unknown>>>>(kinds).map(([kind, fields]) => [
      kind,
      Object.entries(fields),
    ]),
  );
  return (value): value is Kinded<Of> => {
    if (!isObject(value) || !text(value['kind'])) return false;
    const fields = fieldsOf.get(value['kind']);
    return fields?.every(([name, holds]) => holds(value[name])) === true;
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function oneOf<Word extends string>(words: readonly Word[]): Guard<Word> {
  return (value): value is Word => words.some((word) => word === value);
}

function orNull<Value>(isValue: Guard<Value>): Guard<Value | null> {
  return (value): value is Value | null => value === null || isValue(value);
}

function either<One, Other>(isOne: Guard<One>, isOther: Guard<Other>): Guard<One | Other> {
  return (value): value is One | Other => isOne(value) || isOther(value);
}
