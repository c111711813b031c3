import { InputError } from '../../domain/problems.ts';
import { defineCommand, defineGroup, flag } from '../command.ts';
import { jsonFlag, neededReasonOption, sinceOption } from '../options.ts';
import { withLedger, withNewLedger } from '../shell.ts';

const migrate = defineCommand({
  description: 'Migrates the ledger, or makes an empty one.',
  examples: [['volley db migrate', 'update the ledger after an upgrade']],
  run: (shell) =>
    withNewLedger(shell, async ({ ledger }, { description, migrated, newer }) => {
      // This role can migrate the tables of a newer pg-boss; the role of other commands may lack the rights.
      await ledger.queue();
      const upToDate = newer === undefined ? 'up to date.' : 'nothing was migrated.';
      shell.print(`${description}: ${migrated.length === 0 ? upToDate : migrated.join(', ')}`);
    }),
});

const status = defineCommand({
  description: 'Shows which database is used, and whether it runs and has a ledger.',
  options: [jsonFlag],
  examples: [['volley db status', 'see which database is used']],
  run: async (shell, _, { json }) => {
    const { readDatabaseStatus } = await import('../database-status.ts');
    const found = Object.entries(await readDatabaseStatus(shell));
    shell.print(
      json
        ? JSON.stringify(Object.fromEntries(found))
        : found.map(([name, value]) => `${name}: ${value}`).join('\n'),
    );
  },
});

const stop = defineCommand({
  description: 'Stops the embedded server if a killed command left it running.',
  examples: [['volley db stop', 'stop the embedded server']],
  run: async ({ settings, print }) => {
    const { stopEmbeddedServer } = await import('../../platform/embedded-postgres.ts');
    const { requireHome } = await import('../../platform/project.ts');
    const wasRunning = await stopEmbeddedServer(requireHome(settings.environment, settings.workingFolder));
    print(`The embedded server ${wasRunning ? 'is stopped' : 'was not running'}.`);
  },
});

const restored = defineCommand({
  description:
    'Confirms that the ledger was restored, moved or promoted. What was unsent becomes in doubt. Go on with `volley resume` and `volley resolve` (docs/how-to/backup.md).',
  options: [
    sinceOption('the time of the backup'),
    flag(
      '--nothing-missing',
      'instead: the ledger is complete, because everything was stopped before the move, or the standby was synchronous',
    ),
    neededReasonOption,
    flag('--json', 'print JSON: unfinished runs, and those that the ledger lacks'),
  ],
  examples: [
    ['volley db restored --since 2026-11-22T01:00Z --reason "disk failed"', 'confirm a restored backup'],
  ],
  run: async (shell, _, { since, nothingMissing, reason, json }) => {
    const { confirmRestored } = await import('../../engine/location/confirm-restored.ts');
    const { inDoubtText } = await import('../../report/wait-words.ts');
    const { lostRunsText } = await import('../open-context.ts');
    if ((since === undefined) === (nothingMissing === undefined)) {
      const what = 'Use one of the two: the time of the backup, or that nothing is missing.';
      throw new InputError([{ where: '--since, --nothing-missing', what }]);
    }
    const { doubted, lost } = await withLedger(shell, (context) =>
      confirmRestored(context, { reason, since: since?.(shell.now()) ?? null }),
    );
    const missing = lost.map(({ run, campaign, at }) => ({ run, campaign, at }));
    if (json) shell.print(JSON.stringify({ runs: doubted, missing }));
    else
      for (const line of [
        ...doubted.map(
          ({ run, requests }) =>
            `Run ${run}: ${inDoubtText(requests)}. \`volley resume ${run}\` looks them up if the account allows it; \`volley resolve ${run}\` resolves the others.`,
        ),
        ...lostRunsText(lost),
        'The ledger is in use again.',
      ])
        shell.print(line);
  },
});

export const command = defineGroup(
  'Migrates, shows or stops the database: DATABASE_URL, or the embedded server.',
  { migrate, status, stop, restored },
);
