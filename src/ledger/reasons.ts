import { isHoldReason } from '../domain/hold-reasons.ts';
import { either, type Guard, isReasonOf, orNull } from '../domain/reason-kind.ts';
import {
  type BareReasonKind,
  isApprovalReason,
  isRequestReason,
  isRunReason,
  isTickReason,
  type Reason,
} from '../domain/reasons.ts';
import {
  isRejectionDetail,
  reachedKinds,
  repeatedKinds,
  suppressedKinds,
} from '../domain/rejected-contacts.ts';

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

export const requestReason = decoder(orNull(isRequestReason));
export const runReason = decoder(orNull(isRunReason));
export const holdReason = decoder(orNull(isHoldReason));
export const approvalReason = decoder(isApprovalReason);
export const tickReason = decoder(orNull(isTickReason));
/** Of a notification: the reason of the run's state, or of a tick without a run. */
export const notifiedReason = decoder(orNull(either(isRunReason, isTickReason)));
export const reachedReason = decoder(isReasonOf(reachedKinds));
export const repeatedReason = decoder(isReasonOf(repeatedKinds));
export const suppressedReason = decoder(isReasonOf(suppressedKinds));
export const rejectionDetail = decoder(isRejectionDetail);

/** @throws Error for an unknown reason, from another version or a manual change */
function decoder<Value>(isValue: Guard<Value>): (stored: unknown) => Value {
  return (stored) => {
    if (isValue(stored)) return stored;
    const found = JSON.stringify(stored);
    throw new Error(`The ledger contains a reason that this version of Volley does not know: ${found}`);
  };
}
