import { type Command, Option } from 'commander';
import { auditActions } from '../../domain/access.ts';
import type { AuditOptions } from '../actions/audit.ts';
import { parseTime } from '../options.ts';
import { addReportOptions } from '../report-options.ts';
import type { Shell } from '../shell.ts';

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
    .action(async (options: AuditOptions) => {
      const { auditAction } = await import('../actions/audit.ts');
      await auditAction(shell, options);
    });
}
