import { bareKind, isReasonOf, type ReasonOf, reasonKind, text } from './reason-kind.ts';

const moved = { was: text, is: text };

/** Why no request may be claimed from a ledger. Whole sentences, because they are shown alone. */
export const holdReasonKinds = {
  former_backup: bareKind(
    'An operator reported a restore of this ledger, but now it is in its earlier state again: an older backup has replaced it.',
  ),
  /**
   * The ledger lacks a claim of this machine (time in ISO 8601). Names no run, because API callers see this
   * reason for any run.
   */
  lacks_claim: reasonKind(
    { at: text },
    ({ at }) =>
      `This machine claimed a request at ${at} that the ledger lacks: it was restored from a backup, or is a copy.`,
  ),
  /** A delivery report proves a request that this ledger never attempted. */
  lacks_attempt: bareKind(
    'A delivery report or a reply proves that the service has a message that this ledger never sent: the ledger was restored from a backup, or a copy of it has sent.',
  ),
  other_server: reasonKind(
    moved,
    ({ was, is }) =>
      `The ledger was on another server (system identifier ${was}, now ${is}): it was restored from a backup, copied or moved.`,
  ),
  other_timeline: reasonKind(
    moved,
    ({ was, is }) =>
      `The server is on another timeline (${timelineNumber(was)}, now ${timelineNumber(is)}): a standby was promoted, or a backup restored, which may lack the last claims.`,
  ),
  other_database: reasonKind(
    moved,
    ({ was, is }) =>
      `The ledger was another database of this server (number ${was}, now ${is}): it was restored from a dump, or is a copy.`,
  ),
  being_restored: reasonKind(
    { words: text },
    ({ words }) => `An operator is handling a restored ledger: ${words}.`,
  ),
};
export type HoldReason = ReasonOf<typeof holdReasonKinds>;
export const isHoldReason = isReasonOf(holdReasonKinds);

export const heldLedgerAdvice =
  '`volley db restored --since TIME --reason …` puts requests that may have been sent in doubt and goes on (docs/how-to/backup.md).';

/** From the eight hexadecimal digits in the name of a WAL file. A log hides so many digits, as an address. */
function timelineNumber(digits: string): number {
  return Number.parseInt(digits, 16);
}
