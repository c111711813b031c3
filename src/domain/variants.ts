/** What one variant of a plan sends; or the control group; or the rest, which gets the winner later. */
export type PlannedVariant = {
  readonly name: string;
  /** Of the recipients, from 0 to 1. */
  readonly share: number;
  readonly gets: 'message' | 'nothing' | 'winner';
  readonly recipients: number;
  /** 0 for people who get nothing now. */
  readonly requests: number;
  /** Of the rest: with the longest variant. Null in other channels than SMS, and for a control group. */
  readonly smsParts: number | null;
  /** Exact decimal text in the currency of the plan; null: not known, or nothing is sent. */
  readonly cost: string | null;
};

export function totalRecipients(totals: readonly { readonly recipients: number }[]): number {
  return totals.reduce((sum, { recipients }) => sum + recipients, 0);
}
