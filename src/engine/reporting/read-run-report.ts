import { readRunCosts } from '../../ledger/billing/run-costs.ts';
import {
  listDeliveryResults,
  listFailureGroups,
  listRejections,
  type SuppressedRecipients,
} from '../../ledger/counts/groups.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import { listConflicting } from '../../ledger/delivery-reports/list.ts';
import { readReportInSnapshot } from '../../ledger/replica.ts';
import {
  countConflicts,
  listResolutions,
  listStateChanges,
  summariseRun,
} from '../../ledger/runs/describe-run.ts';
import { describeSending } from '../../ledger/runs/describe-sending.ts';
import { listRunsBeginning } from '../../ledger/runs/find.ts';
import { listRejectedContacts } from '../../ledger/runs/rejected-contacts.ts';
import { readVariantResults } from '../../ledger/watch/variant-results.ts';
import type { EngineContext } from '../context.ts';
import { noSuchRun } from '../runs/find-run.ts';

/** All are counted, only these are listed. */
const maxListed = { contacts: 100, conflicts: 100, slowest: 10, payers: 20 } as const;

/** All of `volley report run`, as the ledger has it. */
export type RunReport = Omit<Awaited<ReturnType<typeof readRunReport>>, 'asOf'>;

/**
 * @param timeZone of sends over time
 * @throws InputError when there is no such run
 */
export async function readRunReport({ ledger, now }: EngineContext, run: string, timeZone: string) {
  return readReportInSnapshot(ledger, now, async (client, asOf) => {
    const summary = (await summariseRun(client, run)) ?? noSuchRun(run);
    const [{ account, channel, stateReason, recordsDeletedAt } = noSuchRun(run)] = await listRunsBeginning(
      client,
      run,
      1,
    );
    const { suppressed = 0 } = (await readRunCounts(client, [run])).get(run) ?? {};
    const cancelled: SuppressedRecipients = { reason: { kind: 'suppressed' }, recipients: suppressed };
    return {
      summary,
      stateReason,
      recordsDeletedAt,
      account,
      channel,
      states: await listStateChanges(client, run),
      sending: await describeSending(client, run, timeZone, maxListed.slowest),
      deliveryResults: await listDeliveryResults(client, run),
      conflicts: {
        ...(await countConflicts(client, run)),
        listed: await listConflicting(client, run, maxListed.conflicts),
      },
      cancellations: suppressed > 0 ? [cancelled] : [],
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
