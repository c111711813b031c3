import { auditActions } from '../../domain/access.ts';
import { defineCommand, option } from '../command.ts';
import { parseTime } from '../options.ts';
import { reportOptions } from '../report-options.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description: 'Lists the audit trail, newest first: what users did, in any way, and what schedules did.',
  options: [
    ...reportOptions('table'),
    option('--run <run>', 'only entries of this run: its id, the beginning of it, or `latest`'),
    option('--by <name>', 'only entries by this user@host, owner of a token, or "schedule <file>"'),
    option('--who <name>', 'only entries by this person', { retired: '`--by <name>`' }),
    option('--action <action>', 'only entries of this action', { choices: auditActions }),
    option('--since <time>', 'only entries from this time on, such as 2026-11-21 or 2026-11-21T08:00:00Z', {
      read: parseTime,
    }),
  ],
  examples: [['volley audit --since 2026-11-01', 'see who did what since 1 November']],
  run: async (shell, _, { run: name, who: former, by: who = former, action, since, ...options }) => {
    const { readAudit } = await import('../../engine/audit.ts');
    const { auditSheet } = await import('../../report/lists/audit.ts');
    const { describeAsked } = await import('../../report/questions.ts');
    const { chooseRun } = await import('../choose-run.ts');
    const { sheetWriter } = await import('../write-report.ts');
    const write = sheetWriter(shell, options, 'table');
    await withLedgerToRead(shell, async (context) => {
      const run = name === undefined ? undefined : await chooseRun(shell, context, name);
      const subtitle = describeAsked({ run, who, action, since: since?.toISOString() });
      await write(auditSheet(readAudit(context, { run, who, action, since }), subtitle, shell.now()));
    });
  },
});
