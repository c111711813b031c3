import { loadModule } from 'libpg-query';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findUnknownNames, listKnownNames } from '../../src/ledger/billing/dimension-names.ts';
import { countPurgedRuns, findRun, listRuns } from '../../src/ledger/runs/find.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { readObstacles, readRunTables } from '../support/statements/catalogue.ts';
import { collectStatements, functionsThatBuild } from '../support/statements/collect.ts';
import { type Feature, features, featuresOf } from '../support/statements/features.ts';
import { givenValues } from '../support/statements/given.ts';
import { type RunTables, tablesWithoutRun } from '../support/statements/run-keys.ts';
import { parse } from '../support/statements/syntax.ts';

/**
 * The ledger can be distributed by run (docs/decisions/025-more-than-one-postgres.md), so each statement on tables of runs names its run, or is
 * listed with a reason. An unused entry fails too.
 */

/** Calls whose SQL other packages write. */
const builtElsewhere: Readonly<Record<string, string>> = {
  'slices/queue.ts queueDb': 'pg-boss works on our connections; its tables are its own',
};

const allRuns = 'a report over all runs: each node adds up its own';
const oldReports = 'a purge deletes raw reports by age, of any run';
const onePerson = 'the data of one person, in any run';
const lists = 'a list of runs, which are few rows';
const lineage = 'runs and the runs they were made from, which may be on two nodes';
const fleet = 'waiting or held slices of the whole fleet: few, and indexed by state';

/** Statements that name no run of these tables, and why. */
const withoutRun: Readonly<Record<string, readonly [tables: string, reason: string]>> = {
  'billing/campaign-runs.ts streamCampaignRuns': ['runs', allRuns],
  'billing/campaign-runs.ts sumCampaignRuns': ['runs', allRuns],
  'billing/compare-invoice.ts compareInvoice': ['attempts_between, requests_between, runs', allRuns],
  'billing/book.ts book': [
    'billing_slices, runs, slices, unbooked_slices',
    'books pending changes of all runs',
  ],
  'billing/report.ts streamBilling': ['runs', allRuns],
  'delivery-reports/ordinary-report-rows.ts addRowsOfReports': [
    'delivery_reports, recipient_outcomes',
    'a report that is read again, by its id: its run is unknown',
  ],
  'delivery-reports/list.ts listDeliveryReports': ['delivery_reports', 'a list of reports of all runs'],
  'events/read-reports.ts readReports': [
    'delivery_reports',
    'new reports by their numbers, of any run or of none',
  ],
  'events/read-runs.ts listFollowedRuns': ['runs, slices', lists],
  'delivery-reports/polls.ts listPollable': [
    'polls, recipient_outcomes, recipients_between, requests_between, runs',
    'requests to poll, of all runs of an account',
  ],
  'operations/delivery-reports.ts countMissingByAge': ['billing_entries, runs', allRuns],
  'operations/delivery-reports.ts listRunsReportedUnsent': ['billing_entries, runs', allRuns],
  'operations/delivery-reports.ts listRunsWithMissing': ['billing_entries, runs', allRuns],
  'operations/figures.ts countSlices': ['runs, slices', fleet],
  'operations/figures.ts listOpenBreakers': ['runs', fleet],
  'operations/figures.ts countRecipientsInDoubt': ['run_counts', allRuns],
  'operations/figures.ts countUnknownRecipients': ['run_counts', allRuns],
  'operations/missing-reports.ts countMissingReports': ['all_entries, runs', allRuns],
  'operations/workers.ts readWorkers': ['slices', fleet],
  'operations/workers.ts listWorkers': ['slices', fleet],
  'counts/recount.ts listNewestRuns': ['runs', lists],
  'counts/run-counts.ts listRunsInDoubt': ['run_counts', lists],
  'limits/account-work.ts listAccountWork': ['runs, slices', fleet],
  'location/location.ts listUnfinishedRuns': ['runs', lists],
  'planning/remove-reached.ts findAncestors': ['run_origins, runs', lineage],
  'planning/remove-reached.ts findRelatives': ['run_origins, runs', lineage],
  'planning/restage-recipients.ts restageRecipients': ['contents, runs', lineage],
  'planning/remove-suppressed.ts removeFound': [
    'recipient_outcomes, recipients_between, requests_between, runs',
    'a frequency cap: addresses that any run has sent to recently',
  ],
  'purge/candidates.ts beginPurge': ['runs', lineage],
  'purge/candidates.ts countPurgeable': ['delivery_reports, runs', oldReports],
  'purge/candidates.ts listPurgeCandidates': ['runs', lists],
  'purge/delete-records.ts deleteOldRows': [
    'runs',
    'a purge deletes old rows of runs without records, or of none',
  ],
  'purge/old-delivery-reports.ts eraseAfter': ['delivery_reports, runs', oldReports],
  'recipients/traces.ts findAddressTraces': ['contents, runs', onePerson],
  'recipients/traces.ts listLinesOfAddress': ['contents, runs', onePerson],
  'recipients/find.ts findByJobNumber': ['delivery_reports', 'a job number, in any run'],
  'recipients/find.ts findRecipients': ['contents', 'recipients by address, in any run'],
  'requests/by-message-id.ts findRequestsByMessageId': ['runs', 'the run number in a MessageID'],
  'runs/contact-files.ts findKnownDigests': [
    'contact_files, runs',
    'whether a run of the campaign has sent a file',
  ],
  'runs/stop.ts listUntriedProofs': ['untried_proofs', lists],
  'purge/erase-recipient.ts countReportsWithAddress': ['recipient_outcomes, runs', onePerson],
  'purge/erase-recipient.ts eraseAddressElsewhere': ['recipient_outcomes, runs', onePerson],
  'runs/contact-files.ts listAllContactFiles': ['contact_file_pieces, contact_files, runs', onePerson],
  'runs/find.ts listInterruptedRuns': ['approvals, runs', lists],
  'runs/find.ts listWaitingRuns': ['approvals, runs', lists],
  'runs/find.ts listLastRuns': ['runs', lists],
  'runs/find.ts listRunsBeginning': ['runs', lists],
  'runs/unfinished.ts listUnfinishedRunsOf': ['runs', lists],
  'slices/acquire.ts findRun': ['runs, slices', 'whether a more urgent run of the account comes first'],
  'slices/acquire.ts findAcquired': ['runs, slices', 'the slice that an owner holds, of any run'],
  'slices/reclaim.ts reclaimSlicesOfEndedWorkers': ['runs, slices', fleet],
  'slices/worker-session.ts beginGrace': ['slices', fleet],
  'slices/progress.ts readDispatchProgress': [
    'runs, slices',
    'whether a more urgent run of the account comes first',
  ],
  'slices/windows.ts listDueWindows': ['approvals, run_windows, runs', 'windows that open now, of any run'],
};

/** Statements with features that distributed databases lack or change (docs/decisions/025-more-than-one-postgres.md). */
const statementsByFeature: Readonly<Record<Feature, readonly string[]>> = {
  'advisory lock': [
    'billing/book.ts bookEverything',
    'billing/book.ts bookPending',
    'billing/book.ts bookPendingOf',
    'counts/fold.ts fold',
    'counts/fold.ts foldWholeRun',
    'engine/schedule/start-ticks.ts startDueTicks',
    'schedules/ticks.ts tryScheduleLock',
    'limits/breaker.ts changeBreaker',
    'planning/remove-reached.ts lockLineage',
    'runs/rerun-lock.ts lockRunForRerun',
    'runs/fingerprints.ts recordFingerprint',
    'runs/start-keys.ts releaseStartKeyLock',
    'runs/start-keys.ts tryStartKeyLock',
    'schema.ts migrateOnce',
    'slices/queue.ts withAcquisitionsLocked',
    'slices/queue.ts lockAcquisitions',
    'slices/reclaim.ts mayReclaim',
    'slices/reclaim.ts reclaimSlicesOfEndedWorkers',
    'slices/worker-session.ts openWorkerSession',
  ],
  'SKIP LOCKED': [
    'billing/book.ts book',
    'delivery-reports/queue.ts dequeueReports',
    'notifications/acquire.ts acquireNotification',
    'requests/claim-rows.ts claimRows',
    'schedules/ticks.ts lockSchedules',
    'slices/reclaim.ts reclaimSlicesOfEndedWorkers',
    'slices/windows.ts listDueWindows',
  ],
  'temporary table': [
    'billing/compare-invoice.ts compareInvoice',
    'billing/stage-invoice.ts stageInvoice',
    'planning/restage-recipients.ts stageTariffs',
    'planning/staging-tables.ts createStagingTables',
    'suppressions/import.ts importSuppressions',
  ],
  'physical row address': [
    'billing/book.ts book',
    'planning/remove-duplicates.ts removeDuplicates',
    'planning/remove-reached.ts removeReached',
    'planning/remove-suppressed.ts removeFound',
    'purge/erase-run.ts deleteAll',
  ],
  'row transaction': [
    'events/read-requests.ts readAttempts',
    'events/read-requests.ts readSettledRequests',
    'events/read-runs.ts readResolutions',
    'events/read-runs.ts readStateChanges',
    'events/read-slices.ts listFirstSlices',
    'events/read-slices.ts listTouchedSlices',
    'events/read-slices.ts readOutcomes',
    'events/read-slices.ts readSliceOutcomes',
  ],
  notification: [
    'runs/stop.ts markUnsentInDoubt',
    'runs/stop.ts cancelRun',
    'runs/stop.ts pauseRun',
    'slices/enqueue.ts insertJobs',
    'slices/worker-session.ts openWorkerSession',
  ],
  sequence: [],
};

/** Parts of run tables that Citus cannot distribute as they are. */
const obstacles: readonly string[] = [
  'identity run_states.change',
  'identity runs.run_number',
  'reference run_origins to runs by FOREIGN KEY (origin) REFERENCES runs(run_id)',
  'reference runs to runs by FOREIGN KEY (source_run) REFERENCES runs(run_id)',
  'trigger attempts_added on attempts',
  'trigger attempts_changed on attempts',
  'trigger billing_entries_added on billing_entries',
  'trigger billing_entries_changed on billing_entries',
  'trigger left_out_counted on runs',
  'trigger outcomes_counted on outcomes',
  'trigger recipient_outcomes_added on recipient_outcomes',
  'trigger recipient_outcomes_changed on recipient_outcomes',
  'trigger recipient_outcomes_deleted on recipient_outcomes',
  'trigger requests_added on requests',
  'trigger requests_changed on requests',
  'trigger runs_counted on runs',
  'trigger slice_outcomes_added on slice_outcomes',
  'trigger slice_outcomes_changed on slice_outcomes',
  'unique index runs_run_number_key',
];

let opened: TestLedger;
let runTables: RunTables;
beforeAll(async () => {
  await loadModule();
  opened = await openTestLedger();
  runTables = await readRunTables(opened.ledger.pool);
});
afterAll(() => opened.close());

const collected = collectStatements(givenValues);
const statements = collected.flatMap((each) => ('text' in each ? [each] : []));

const tablesWithoutRunIn = (text: string): readonly string[] => [
  ...new Set(parse(text).flatMap((each) => tablesWithoutRun(each, runTables))),
];

function groupByLocation(found: readonly (readonly [where: string, what: readonly string[]])[]) {
  const all = new Map<string, Set<string>>();
  for (const [where, what] of found)
    if (what.length > 0) all.set(where, new Set([...(all.get(where) ?? []), ...what]));
  return Object.fromEntries([...all].sort().map(([where, what]) => [where, [...what].sort().join(', ')]));
}

test('every statement can be derived from the source', () => {
  expect(statements.length).toBeGreaterThan(300);
  const problems = collected.flatMap((each) => ('problem' in each ? [each] : []));
  expect(Object.fromEntries(problems.map(({ where, problem }) => [where, problem]))).toEqual(
    Object.fromEntries(Object.keys(builtElsewhere).map((where) => [where, expect.any(String)])),
  );
});

test('Postgres can parse every statement', () => {
  const unparsed = statements.filter(({ text }) => {
    try {
      return parse(text).length === 0;
    } catch {
      return true;
    }
  });
  expect(unparsed).toEqual([]);
});

test('every statement on tables of runs names its run, or is listed here', () => {
  const found = groupByLocation(statements.map(({ where, text }) => [where, tablesWithoutRunIn(text)]));
  const listed = Object.entries(withoutRun).map(([where, [tables]]) => [where, tables]);
  expect(found).toEqual(Object.fromEntries(listed));
});

test('statements that knex builds name their run, or list runs', async () => {
  const { knex } = opened.ledger;
  const built: string[] = [];
  knex.on('query', ({ sql }: { sql: string }) => built.push(sql));
  const before = { run: 'run', createdAt: new Date() };
  await findRun(knex, 'run');
  await listRuns(knex, 1, { campaign: 'a', account: 'a', accounts: ['a'], before });
  await countPurgedRuns(knex);
  await findUnknownNames(knex, 'SubAccount', ['one'], ['a']);
  await listKnownNames(knex, 'campaign', ['a']);
  expect(functionsThatBuild()).toEqual([
    'billing/dimension-names.ts namesIn',
    'runs/find.ts findRun',
    'runs/find.ts listRuns',
    'runs/find.ts countPurgedRuns',
  ]);
  expect(built.map((sql) => tablesWithoutRunIn(sql))).toEqual([
    [],
    ['runs'],
    ['runs'],
    ['billing_entries', 'runs'],
    ['envelopes', 'runs'],
    ['runs'],
  ]);
});

test.each(features)('the statements that rely on %s are listed here', (feature) => {
  const found = statements.filter(({ text }) => parse(text).some((each) => featuresOf(each).has(feature)));
  expect([...new Set(found.map(({ where }) => where))].sort()).toEqual(
    [...statementsByFeature[feature]].sort(),
  );
});

test('the obstacles to distributing the tables of runs are listed here', async () => {
  expect(await readObstacles(opened.ledger.pool, runTables)).toEqual(obstacles);
});
