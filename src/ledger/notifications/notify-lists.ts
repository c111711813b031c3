import type { Transaction } from '../session.ts';

/**
 * Stores the notification targets of a new run.
 *
 * @param targets unparsed
 * @param campaignFile absolute path on this machine
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

/** Copies the notification targets of a run to a new run. */
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
