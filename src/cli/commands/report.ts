import type { Command } from 'commander';
import type { EngineContext } from '../../engine/context.ts';
import { requireRun, requireSummary } from '../../engine/execute-run.ts';
import { reportBilling } from '../../ledger/billing/report.ts';
import { listDeliveryResults, listFailures, listRejectedContacts } from '../../ledger/runs/details.ts';
import { billingText } from '../../report/billing.ts';
import { type RunDetails, runDetailsText } from '../../report/run-details.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command.description('Reports of what was sent and what it cost.');
  command
    .command('run')
    .description(
      "A run: counts by state, delivery results and failures in the service's own words, contacts left out.",
    )
    .argument('<run>', "the run's id (volley runs)")
    .option('--json', 'print the report as JSON')
    .action(async (runId: string, { json }: { json?: true }) => {
      const details = await withLedger(shell, (context) => collectDetails(context, runId));
      shell.print(json ? JSON.stringify(details) : runDetailsText(details));
    });
  command
    .command('billing')
    .description('Requests, recipients, units and prices by SubAccount and ChargeCode.')
    .option('--run <run...>', 'only these runs')
    .option('--json', 'print the report as JSON')
    .action(async ({ json, run }: { json?: true; run?: string[] }) => {
      const report = await withLedger(shell, async (context) => {
        for (const runId of run ?? []) await requireRun(context, runId);
        return reportBilling(context.ledger.pool, run);
      });
      shell.print(json ? JSON.stringify(report) : billingText(report));
    });
}

/** Contacts left out that are listed; all are counted. */
const listedContacts = 100;

async function collectDetails(context: EngineContext, runId: string): Promise<RunDetails> {
  const { knex, pool } = context.ledger;
  return {
    summary: await requireSummary(context, runId),
    stateReason: (await requireRun(context, runId)).stateReason,
    deliveryResults: await listDeliveryResults(knex, runId),
    failures: await listFailures(knex, runId),
    rejectedContacts: await listRejectedContacts(pool, runId, listedContacts),
  };
}
