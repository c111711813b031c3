import { auditActions } from '../../domain/access.ts';
import { defineCommand, option } from '../command.ts';
import { anyRunArgument, formerRunOption, reportOptions, sinceOption } from '../options.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description: 'Lists what people, programs and schedules did, newest first.',
  arguments: [anyRunArgument],
  options: [
    ...reportOptions('table'),
    formerRunOption,
    option('--by <name>', 'only by this user@host, owner of a token, or "schedule <file>"'),
    option('--who <name>', 'only entries by this person', { retired: '`--by <name>`' }),
    option('--action <action>', 'only this action', { choices: auditActions }),
    sinceOption('only from this time on'),
  ],
  examples: [['volley audit --since 2026-11-01', 'see who did what since 1 November']],
  run: async (shell, [name], { run: formerRun, who: formerWho, by: who = formerWho, action, ...options }) => {
    const { readAudit } = await import('../../engine/audit.ts');
    const { auditSheet } = await import('../../report/lists/audit.ts');
    const { describeAsked } = await import('../../report/questions.ts');
    const { chooseRun } = await import('../runs/choose-run.ts');
    const { sheetWriter } = await import('../output/write-report.ts');
    const write = sheetWriter(shell, options, 'table');
    await withLedgerToRead(shell, async (context) => {
      const named = name ?? formerRun;
      const run = named === undefined ? undefined : await chooseRun(shell, context, named);
      const since = options.since?.(shell.now());
      const subtitle = describeAsked({ run, who, action, since: since?.toISOString() });
      await write(auditSheet(readAudit(context, { run, who, action, since }), subtitle, shell.now()));
    });
  },
});
