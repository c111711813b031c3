import type { Knex } from 'knex';

/** A job number that two requests have proves nothing: a reason of its own for the doubt. */
const kinds = [
  'job_number',
  'reported',
  'looked_up',
  'worker_ended',
  'resent',
  'run_cancelled',
  'run_cancelled_before_resend',
  'all_suppressed',
  'all_suppressed_before_resend',
  'suppressed',
  'withheld',
  'claim_unanswered',
  'resolved',
  'ledger_restored',
  'untried_proof',
];
const added = 'repeated_job_number';

const comment = (ofAdded: string): string =>
  'Why the request is in its state. A string has the words of the service, or of the failure on the way to it. ' +
  `An object has a kind, and values. job_number: the service accepted it under this number. ${ofAdded}reported: a ` +
  'delivery report or a reply proves acceptance. looked_up: the status look-up answered. worker_ended: its ' +
  'worker ended before it recorded the answer. resent: it was sent again after a doubt, and ended in this ' +
  'state. run_cancelled: its run was cancelled. run_cancelled_before_resend: the same, before a resend. ' +
  'all_suppressed: all its recipients are suppressed. all_suppressed_before_resend: the same, before a resend. ' +
  'suppressed: this recipient is suppressed. withheld: it was not allowed to leave. claim_unanswered: the ' +
  'answer to its claim was lost, so it was not sent. resolved: an operator resolved it. ledger_restored, ' +
  'untried_proof: another copy of the ledger may have sent it.';

export async function up(knex: Knex): Promise<void> {
  await checkKinds(knex, [...kinds, added]);
  await commentReason(
    knex,
    comment(`${added}: another request has the same number, so neither answer proves anything. `),
  );
}

export async function down(knex: Knex): Promise<void> {
  await checkKinds(knex, kinds);
  await commentReason(knex, comment(''));
}

async function checkKinds(knex: Knex, allowed: readonly string[]): Promise<void> {
  for (const [table, column] of [
    ['requests', 'reason'],
    ['attempts', 'detail'],
  ]) {
    await knex.raw(`
      ALTER TABLE ${table}
        DROP CONSTRAINT ${table}_${column}_check,
        ADD CONSTRAINT ${table}_${column}_check
          CHECK (${column} ->> 'kind' IN (${allowed.map((kind) => `'${kind}'`).join(', ')}))
    `);
  }
}

async function commentReason(knex: Knex, text: string): Promise<void> {
  await knex.raw(`COMMENT ON COLUMN requests.reason IS '${text.replaceAll("'", "''")}'`);
}
