import { type Approval, approvalReason } from '../../campaign/approval.ts';
import type { CostEstimate } from '../../campaign/cost.ts';
import type { ApprovalReason } from '../../domain/reasons.ts';
import { type ApprovalRequest, requestApproval } from '../../ledger/approvals/approvals.ts';
import type { BillingTotal, PlannedRun } from '../../ledger/planning/planned-run.ts';

type Enqueue = PlannedRun['enqueue'];

export type ApprovalGate = {
  readonly assess: (totals: readonly BillingTotal[], estimate: CostEstimate) => void;
  readonly enqueue: Enqueue;
};

/** Runs that wait for approval are not queued, and cannot start before it. */
export function createApprovalGate(
  approval: Approval | undefined,
  request: Omit<ApprovalRequest, 'reason'>,
  enqueue: Enqueue,
): ApprovalGate {
  let reason: ApprovalReason | undefined;
  return {
    assess: (totals, estimate) => {
      const recipients = totals.reduce((sum, total) => sum + total.recipients, 0);
      reason = approvalReason(approval, recipients, estimate);
    },
    enqueue: (client) =>
      reason === undefined ? enqueue(client) : requestApproval(client, { ...request, reason }),
  };
}
