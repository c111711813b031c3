import type { RejectedContactRecord } from '../../domain/rejected-contacts.ts';
import type { AsOf } from '../../domain/replica.ts';
import type { RunSummary } from '../../domain/runs.ts';
import { type RunCosts, readRunCosts } from '../../ledger/billing/run-costs.ts';
import {
  type DeliveryResult,
  type FailureGroup,
  listDeliveryResults,
  listFailureGroups,
  listRejections,
  type RejectionGroup,
  type SuppressedRecipients,
} from '../../ledger/counts/groups.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import { type ConflictingDeliveryReport, listConflicting } from '../../ledger/delivery-reports/list.ts';
import { readReportInSnapshot } from '../../ledger/replica.ts';
import { describeSending, type Sending } from '../../ledger/runs/describe-sending.ts';
import { findRunHead, type RunHead } from '../../ledger/runs/find.ts';
import {
  type Conflicts,
  countConflicts,
  listResolutions,
  listStateChanges,
  type ResolutionGroup,
  type RunStateChange,
} from '../../ledger/runs/history.ts';
import { listRejectedContacts } from '../../ledger/runs/rejected-contacts.ts';
import { summariseRun } from '../../ledger/runs/summary.ts';
import { readVariantResults, type VariantResult } from '../../ledger/watch/variant-results.ts';
import type { EngineContext } from '../context.ts';
import { noSuchRun } from '../runs/find-run.ts';

export type RunReport = RunHead & {
  readonly summary: RunSummary;
  readonly states: readonly RunStateChange[];
  readonly sending: Sending;
  readonly deliveryResults: readonly DeliveryResult[];
  /** All are counted, only the first listed. */
  readonly conflicts: Conflicts & { readonly listed: readonly ConflictingDeliveryReport[] };
  readonly cancellations: readonly SuppressedRecipients[];
  readonly failures: readonly FailureGroup[];
  readonly variants: readonly VariantResult[];
  readonly resolutions: readonly ResolutionGroup[];
  readonly rejections: readonly RejectionGroup[];
  readonly rejectedContacts: readonly RejectedContactRecord[];
  /** Booked or not. */
  readonly costs: RunCosts;
  readonly asOf: AsOf;
};

/** All are counted, only these are listed. */
const maxListed = { contacts: 100, conflicts: 100, slowest: 10, payers: 20 } as const;

/**
 * @param timeZone of sends over time
 * @throws InputError when there is no such run
 */
export async function readRunReport(
  context: EngineContext,
  run: string,
  timeZone: string,
): Promise<RunReport> {
  return readReportInSnapshot(context.ledger, context.now, async (client, asOf) => {
    const summary = (await summariseRun(client, run)) ?? noSuchRun(run);
    const head = (await findRunHead(client, run)) ?? noSuchRun(run);
    const { suppressed = 0 } = (await readRunCounts(client, [run])).get(run) ?? {};
    return {
      ...head,
      summary,
      states: await listStateChanges(client, run),
      sending: await describeSending(client, run, timeZone, maxListed.slowest),
      deliveryResults: await listDeliveryResults(client, run),
      conflicts: {
        ...(await countConflicts(client, run)),
        listed: await listConflicting(client, run, maxListed.conflicts),
      },
      cancellations: suppressed > 0 ? [{ reason: { kind: 'suppressed' }, recipients: suppressed }] : [],
      failures: await listFailureGroups(client, run),
      variants: await readVariantResults(client, run),
      resolutions: await listResolutions(client, run),
      rejections: await listRejections(client, run),
      rejectedContacts: (await listRejectedContacts(client, run, { limit: maxListed.contacts })).map(
        ({ row, ...contact }) => contact,
      ),
      costs: await readRunCosts(client, run, maxListed.payers, 'all'),
      asOf,
    };
  });
}
