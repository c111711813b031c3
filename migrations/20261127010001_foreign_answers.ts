import type { Knex } from 'knex';

/** A run pauses when what answers its first requests is not the interface of its account. */
const kinds = [
  'interrupted',
  'waits_for_approval',
  'approved',
  'all_rejected',
  'too_many_rejected',
  'credential_refused',
  'service_refuses',
  'doubts_reopened',
  'ledger_held',
  'ledger_restored',
  'untried_proof',
];
const ofTicks = ['no_worker', 'run_not_over', 'ledger_restored_since'];
const added = 'foreign_answers';

const comment = (ofAdded: string): string =>
  'Why the run is in its state; null: no reason, or purged. A string has the words of an operator or a caller. ' +
  'An object has a kind, and values. interrupted: its process was asked to stop. waits_for_approval: another ' +
  'person has to approve it. approved: another person approved it. all_rejected, too_many_rejected: failFast ' +
  `stopped it. ${ofAdded}credential_refused: the service refused the credentials. service_refuses: the service refused ` +
  'everything for longer than the campaign waits. doubts_reopened: requests will be sent again. ledger_held: ' +
  'the ledger is held, so nothing is sent. ledger_restored, untried_proof: another copy of the ledger may have ' +
  'sent it.';

export async function up(knex: Knex): Promise<void> {
  await checkKinds(knex, [...kinds, added]);
  await commentReason(knex, comment(`${added}: failFast stopped it, because another server answers. `));
}

/** The reason in words stays. */
export async function down(knex: Knex): Promise<void> {
  for (const [table, column] of columns)
    await knex.raw(
      `UPDATE ${table} SET ${column} = ${column} -> 'words' WHERE ${column} ->> 'kind' = '${added}'`,
    );
  await checkKinds(knex, kinds);
  await commentReason(knex, comment(''));
}

const columns = [
  ['runs', 'state_reason'],
  ['run_states', 'reason'],
  ['notifications', 'reason'],
] as const;

async function checkKinds(knex: Knex, ofRuns: readonly string[]): Promise<void> {
  for (const [table, column] of columns) {
    const allowed = table === 'notifications' ? [...ofRuns, ...ofTicks] : ofRuns;
    await knex.raw(`
      ALTER TABLE ${table}
        DROP CONSTRAINT ${table}_${column}_check,
        ADD CONSTRAINT ${table}_${column}_check
          CHECK (${column} ->> 'kind' IN (${allowed.map((kind) => `'${kind}'`).join(', ')}))
    `);
  }
}

async function commentReason(knex: Knex, text: string): Promise<void> {
  await knex.raw(`COMMENT ON COLUMN runs.state_reason IS '${text.replaceAll("'", "''")}'`);
}
