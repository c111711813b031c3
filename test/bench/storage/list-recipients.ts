import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

/**
 * Writes a line with MessageID and address of each recipient of a run, in the order in which the service reports them:
 * that of sending, mixed within ten seconds of a run that sends 10,000 a second.
 *
 * @param chunk recipients of a request
 */
export async function listRecipients(
  databaseUrl: string,
  { run, chunk, file }: { readonly run: string; readonly chunk: number; readonly file: string },
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("SET work_mem = '256MB'");
    const statement = `
      COPY (
        SELECT json_build_array(message_id, address)
        FROM recipient_states
        WHERE run_id = ${client.escapeLiteral(run)}
        ORDER BY CAST(request AS bigint) * ${chunk} + position + mod(abs(CAST(hashtext(address) AS bigint)), 100000), address
      ) TO STDOUT`;
    await pipeline(client.query(copyTo(statement)), createWriteStream(file));
  } finally {
    await client.end();
  }
}
