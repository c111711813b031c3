import type { Transaction } from '../session.ts';

/**
 * Says who is told what becomes of a run that is being made.
 *
 * @param targets parsed again by who reads them
 * @param campaignFile absolute, on this machine
 */
export async function insertNotifyList(
  client: Transaction,
  run: string,
  targets: readonly unknown[],
  campaignFile: string,
): Promise<void> {
  if (targets.length === 0) return;
  await client.query('INSERT INTO notify_lists (run_id, targets, campaign_file) VALUES ($1, $2, $3)', [
    run,
    JSON.stringify(targets),
    campaignFile,
  ]);
}

/** Those who are told of one run are told of another, which is being made. */
export async function copyNotifyList(client: Transaction, from: string, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO notify_lists (run_id, targets, campaign_file)
    SELECT $2, targets, campaign_file
    FROM notify_lists
    WHERE run_id = $1
    `,
    [from, run],
  );
}
