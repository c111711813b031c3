import type { AuditInterface, Person } from '../../domain/access.ts';
import type { ApprovalReason } from '../../domain/reasons.ts';
import { approvalReason, reasonValue, type Stored } from '../reasons.ts';
import type { Connection, Transaction } from '../session.ts';

export type ApprovalRequest = {
  readonly run: string;
  readonly reason: ApprovalReason;
  /** This person must not approve the run. */
  readonly plannedBy: string;
  readonly plannedHow: AuditInterface;
  readonly plannedToken: string | null;
  /** Absolute working folder of the planning process; campaign and contact files are relative to it. */
  readonly folder: string | null;
  /** Like folder and digest, null for a rerun. */
  readonly campaignFile: string | null;
  readonly campaignSha256: Buffer | null;
};

export type Approval = ApprovalRequest & {
  /** The persons who put in the schedule of the run. */
  readonly scheduledBy: readonly Person[];
  readonly approvedBy: string | null;
  readonly approvedAt: Date | null;
};

/** Lets a run wait for approval. Call this after the tick of the run has started. */
export async function requestApproval(
  client: Transaction,
  { run, reason, plannedBy, plannedHow, plannedToken, folder, campaignFile, campaignSha256 }: ApprovalRequest,
): Promise<void> {
  const waits = reasonValue({ kind: 'waits_for_approval', why: reason });
  await client.query(
    `
    WITH asked AS (
      INSERT INTO approvals (run_id, reason, planned_by, planned_via, planned_token, folder, campaign_file, campaign_sha256, scheduled_by)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce(
        (SELECT put_in_by FROM ticks JOIN schedules USING (schedule) WHERE ticks.run_id = $1),
        '[]'
      ))
    )
    UPDATE runs SET state_reason = $9 WHERE run_id = $1
    `,
    [
      run,
      reasonValue(reason),
      plannedBy,
      plannedHow,
      plannedToken,
      folder,
      campaignFile,
      campaignSha256,
      waits,
    ],
  );
}

/** @returns undefined if the run needs no approval */
export async function findApproval(client: Connection, run: string): Promise<Approval | undefined> {
  const { rows } = await client.query<Stored<Approval>>(
    `
    SELECT run_id AS run, reason, planned_by AS "plannedBy", planned_via AS "plannedHow", planned_token AS "plannedToken",
           scheduled_by AS "scheduledBy", folder, campaign_file AS "campaignFile", campaign_sha256 AS "campaignSha256",
           approved_by AS "approvedBy", approved_at AS "approvedAt"
    FROM approvals
    WHERE run_id = $1
    `,
    [run],
  );
  const [found] = rows;
  return found && { ...found, reason: approvalReason(found.reason) };
}

/** A run that an operator paused stays paused, with its reason. @returns whether this call approved the run */
export async function recordApproval(
  client: Transaction,
  run: string,
  by: string,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `
    WITH approved AS (
      UPDATE approvals a
      SET approved_by = $2, approved_at = $3
      FROM runs r
      WHERE a.run_id = $1 AND a.approved_at IS NULL AND r.run_id = a.run_id AND r.state IN ('planned', 'paused')
      RETURNING a.run_id
    )
    UPDATE runs
    SET state_reason = CASE state WHEN 'planned' THEN $4 ELSE state_reason END
    WHERE run_id IN (SELECT run_id FROM approved)
    `,
    [run, by, now, reasonValue({ kind: 'approved', by })],
  );
  return rowCount === 1;
}
