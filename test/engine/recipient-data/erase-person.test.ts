import { beforeAll, expect, test } from 'vitest';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { erasePerson, previewErasure } from '../../../src/engine/recipient-data/erase-person.ts';
import { reportContacts } from '../../../src/engine/reporting/contact-report.ts';
import { anAccount } from '../../support/account.ts';
import { deleteRuns } from '../../support/empty-ledger.ts';
import { dumpOf, planOldRun, receiveOldReports, withKey } from '../../support/purges.ts';
import { createRequestRows } from '../../support/request-rows.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { problemsRejected } from '../../support/thrown-problems.ts';

const opened = testLedger();
let run: string;
beforeAll(async () => {
  run = await planOldRun(opened);
});

const carl = '+61412345673';
const query = async (sql: string) => (await opened.ledger.pool.query(sql)).rows;

test('a delivery report that comes after an erasure is booked to the payer, and another erasure removes it', async () => {
  const erased = await erasePerson(withKey(opened), carl, 'asked');
  expect(erased).toMatchObject({ runs: [run], recipients: 1, leftAlone: [] });
  expect(await dumpOf(opened.ledger.pool)).not.toContain('412345673');
  const [{ message_id: MessageID }] = await query('SELECT message_id FROM request_states WHERE request = 3');
  await receiveOldReports(opened, [
    { Type: 'SMS', MessageID, Destination: carl, Status: 'Success', Price: '0.07', Detail: 'SMSParts:1' },
  ]);
  expect(
    await query('SELECT outcome, price::text FROM all_recipient_outcomes WHERE request = 3 AND position = 1'),
  ).toEqual([{ outcome: 'delivered', price: '0.07' }]);
  expect(await erasePerson(withKey(opened), carl, 'asked')).toMatchObject({ reports: 1 });
  expect(await dumpOf(opened.ledger.pool)).not.toContain('412345673');
});

test('a rerun leaves an erased recipient out', async () => {
  await createRequestRows(opened.ledger.pool, run);
  await query(
    `DELETE FROM recipient_outcomes; DELETE FROM folded_outcomes; UPDATE requests SET state = 'rejected' WHERE request IN (2, 3)`,
  );
  const again = await planRerun(withKey(opened), {
    of: run,
    states: ['rejected'],
    account: anAccount({ rates: [] }),
  });
  expect(await query(`SELECT address FROM recipient_states WHERE run_id = '${again}'`)).toEqual([
    { address: '+61412345672' },
  ]);
  await deleteRuns(opened.ledger.pool, `run_id = '${again}'`);
});

test('a run with a request to the person in doubt is left alone, and the reason is given', async () => {
  await query(`UPDATE requests SET state = 'in_doubt' WHERE request = 2`);
  const { runs, leftAlone } = await erasePerson(withKey(opened), '+61412345672', 'asked');
  expect({ runs, leftAlone }).toEqual({ runs: [], leftAlone: [{ run, why: 'unsettled' }] });
  await query(`UPDATE requests SET state = 'accepted' WHERE request = 2`);
});

test('a workbook with the person is not kept any more, and the report of its contacts says so', async () => {
  await query(`UPDATE contact_files SET sheet = 'Sheet1', encoding = NULL, delimiter = NULL`);
  const { droppedFiles } = await erasePerson(withKey(opened), '+61412345672', 'asked');
  expect(droppedFiles).toEqual([{ run, name: 'contacts.csv' }]);
  expect(await query('SELECT FROM contact_file_pieces')).toEqual([]);
  const [problem] = await problemsRejected(() => reportContacts(opened.context, run, async () => undefined));
  expect(problem).toContain('The content of contacts.csv is not kept any more');
});

test('an address that contains the erased one keeps its delivery report', async () => {
  const reports = () =>
    query(`SELECT convert_from(body, 'UTF8') AS body FROM inbox_calls ORDER BY report_id`);
  await query('DELETE FROM inbox_blocks; DELETE FROM inbox_waiting');
  const others = ['xann@private.example', 'ann@private.example.nz', 'x+ann@private.example', '+614123456790'];
  await receiveOldReports(
    opened,
    [...others, 'Ann@Private.Example', 'ann%40private.example', '+61412345679'].map((Destination) => ({
      Type: 'SMS',
      Destination,
    })),
  );
  // Calls that no request matches wait to be read again.
  await query(
    `DELETE FROM inbox_waiting; UPDATE inbox_blocks SET headers = array_fill(json '{}', ARRAY[calls])`,
  );
  await erasePerson(withKey(opened), 'ann@private.example', 'asked');
  await erasePerson(withKey(opened), '+61412345679', 'asked');
  expect((await reports()).map(({ body }) => JSON.parse(body).Destination)).toEqual(others);
});

test('what a person said leaves the ledger too when the week of the raw reports was dropped before', async () => {
  await receiveOldReports(opened, [
    { Type: 'SMSReply', Destination: '+61412345670', Message: 'My house is the blue one' },
    { Type: 'SMS', MessageID: 'Unknown1', Destination: '+61412345670', Status: 'Success' },
  ]);
  await query('DELETE FROM inbox_waiting; DELETE FROM inbox_blocks');
  expect(await dumpOf(opened.ledger.pool)).toMatch(/412345670.*blue one/);
  expect(await previewErasure(withKey(opened), '+61412345670')).toMatchObject({ reports: 0 });
  expect(await erasePerson(withKey(opened), '+61412345670', 'asked')).toMatchObject({ reports: 0 });
  expect(await dumpOf(opened.ledger.pool)).not.toMatch(/412345670|blue one/);
});

test('a file goes that only messages to the person carry', async () => {
  await query(`
    INSERT INTO run_files (run_id, path, data)
    VALUES ('${run}', 'own.pdf', ''), ('${run}', 'shared.pdf', '');
    UPDATE envelopes
    SET files = CASE WHEN fields ->> 'Reference' = 'plumbago reference-77'
                     THEN '[{"path": "own.pdf", "name": "a.pdf"}, {"path": "shared.pdf", "name": "b.pdf"}]'
                     ELSE '[{"path": "shared.pdf", "name": "b.pdf"}]' END::jsonb
  `);
  await erasePerson(withKey(opened), '+61412345671', 'asked');
  expect(await query('SELECT path FROM run_files')).toEqual([{ path: 'shared.pdf' }]);
});
