import { type Command, Option } from 'commander';
import { type AuditAction, auditActions } from '../../domain/access.ts';
import { readAudit } from '../../engine/audit.ts';
import { auditSheet } from '../../report/audit-sheet.ts';
import { parseTime } from '../options.ts';
import { addReportOptions, type ReportOptions, sheetWriter } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

type AuditOptions = ReportOptions & {
  readonly run?: string;
  readonly who?: string;
  readonly action?: AuditAction;
  readonly since?: Date;
};

export function define(command: Command, shell: Shell): void {
  addReportOptions(command, 'table')
    .description(
      'Who did what, newest first: on the command line, over the API, or by a schedule. Nothing in it is ever changed or taken away, and nothing in it is of a recipient.',
    )
    .option('--run <run>', 'only of this run')
    .option('--who <name>', 'only by this user@host, owner of a token, or "schedule <file>"')
    .addOption(new Option('--action <action>', 'only this').choices(auditActions))
    .option('--since <time>', 'only from then on, such as 2026-11-21 or 2026-11-21T08:00:00Z', parseTime)
    .action(async ({ run, who, action, since, ...options }: AuditOptions) => {
      const write = sheetWriter(shell, options, 'table');
      const filters = Object.entries({ run, who, action, since: since?.toISOString() });
      const subtitle = filters.flatMap(([name, value]) => (value === undefined ? [] : `${name}: ${value}`));
      await withLedgerToRead(shell, (context) =>
        write(auditSheet(readAudit(context, { run, who, action, since }), subtitle, shell.now())),
      );
    });
}
