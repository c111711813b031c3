import { formatReason, type Reason } from '../domain/reasons.ts';

/** A row of the ledger with its reason as text. */
export type WithReasonText<Row extends { readonly reason: Reason | null }> = Omit<Row, 'reason'> & {
  readonly reason: string | Extract<Row['reason'], null>;
};

export function formatReasonOf<Row extends { readonly reason: Reason }>(row: Row): WithReasonText<Row>;
export function formatReasonOf<Row extends { readonly reason: Reason | null }>(row: Row): WithReasonText<Row>;
export function formatReasonOf<Row extends { readonly reason: Reason | null }>({ reason, ...row }: Row) {
  return { ...row, reason: reason === null ? null : formatReason(reason) };
}
