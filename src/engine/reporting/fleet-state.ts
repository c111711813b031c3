import { nextTick, storedSchedule } from '../../campaign/schedule.ts';
import type { NextStep } from '../../domain/next-step.ts';
import { readSchemaState } from '../../ledger/fingerprint.ts';
import { findUnappliedReports, readFigures } from '../../ledger/operations/figures.ts';
import { describeSchema } from '../../ledger/schema.ts';
import { codeOf } from '../../platform/file-error.ts';
import { describeUnapplied } from '../../platform/unapplied-reports-text.ts';
import type { EngineContext } from '../context.ts';

/** With the next tick of all schedules; undefined when none is due again. */
export type FleetFigures = Awaited<ReturnType<typeof readFleetFigures>>;

/** Rejects when the database is unreachable or slow. */
export async function readFleetFigures({ ledger, now }: EngineContext) {
  const time = now();
  const { schedules, ...figures } = await readFigures(ledger.monitoring, time);
  const ticks = schedules.flatMap((times) => nextTick(storedSchedule.parse(times), time) ?? []);
  const next = ticks.reduce<Date | undefined>(
    (first, tick) => (first && first <= tick ? first : tick),
    undefined,
  );
  return { ...figures, nextTick: next };
}

/** Texts contain no names or addresses. */
export type DatabaseState = {
  readonly problem?: string;
  /** An operator should look at them, though the process works. */
  readonly warnings: readonly NextStep[];
};

export async function checkDatabase({ ledger, now }: EngineContext): Promise<DatabaseState> {
  const broken = (problem: string): DatabaseState => ({ problem, warnings: [] });
  try {
    const schema = await readSchemaState(ledger.monitoring);
    const { found, nextStep } = describeSchema(schema);
    if (schema.kind !== 'fits') return broken(`the ledger ${found}`);
    const unapplied = await findUnappliedReports(ledger.monitoring, now());
    return {
      warnings: [
        ...(nextStep === undefined ? [] : [`the ledger ${found}`]),
        ...describeUnapplied(unapplied, (time) => time.toISOString()),
      ],
    };
  } catch (error) {
    // The message may contain the user or the host.
    return broken(`unusable: ${codeOf(error) ?? 'no answer'}`);
  }
}
