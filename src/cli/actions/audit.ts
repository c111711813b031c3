import type { AuditAction } from '../../domain/access.ts';
import { readAudit } from '../../engine/audit.ts';
import { auditSheet } from '../../report/audit-sheet.ts';
import { chooseRun } from '../choose-run.ts';
import type { ReportOptions } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { sheetWriter } from '../write-report.ts';

export type AuditOptions = ReportOptions & {
  readonly run?: string;
  readonly who?: string;
  readonly action?: AuditAction;
  readonly since?: Date;
};

export async function auditAction(
  shell: Shell,
  { run: name, who, action, since, ...options }: AuditOptions,
): Promise<void> {
  const write = sheetWriter(shell, options, 'table');
  await withLedgerToRead(shell, async (context) => {
    const run = name === undefined ? undefined : await chooseRun(shell, context, name);
    const filters = Object.entries({ run, who, action, since: since?.toISOString() });
    const subtitle = filters.flatMap(([key, value]) => (value === undefined ? [] : `${key}: ${value}`));
    await write(auditSheet(readAudit(context, { run, who, action, since }), subtitle, shell.now()));
  });
}
