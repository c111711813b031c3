import { type Command, Option } from 'commander';
import { type AuditAction, auditActions } from '../../domain/access.ts';
import { readAudit } from '../../engine/audit.ts';
import { auditSheet } from '../../report/audit-sheet.ts';
import { chooseRun } from '../choose-run.ts';
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
      'Lists the audit trail, newest first: what users did on the command line or over the API, and what schedules did. Entries are never changed or removed, and contain nothing about recipients.',
    )
    .option('--run <run>', 'only entries of this run: its id, the beginning of it, or `latest`')
    .option('--who <name>', 'only entries by this user@host, owner of a token, or "schedule <file>"')
    .addOption(new Option('--action <action>', 'only entries of this action').choices(auditActions))
    .option(
      '--since <time>',
      'only entries from this time on, such as 2026-11-21 or 2026-11-21T08:00:00Z',
      parseTime,
    )
    .action(async ({ run: name, who, action, since, ...options }: AuditOptions) => {
      const write = sheetWriter(shell, options, 'table');
      await withLedgerToRead(shell, async (context) => {
        const run = name === undefined ? undefined : await chooseRun(shell, context, name);
        const filters = Object.entries({ run, who, action, since: since?.toISOString() });
        const subtitle = filters.flatMap(([key, value]) => (value === undefined ? [] : `${key}: ${value}`));
        await write(auditSheet(readAudit(context, { run, who, action, since }), subtitle, shell.now()));
      });
    });
}
