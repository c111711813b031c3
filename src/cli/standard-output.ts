import { OutputError, standardOutput } from './output-error.ts';

/**
 * Says once what became of standard output. A reader such as `head` may leave early, which is no error. Otherwise the
 * command ends with 1: at once, or in its own time where it drains.
 */
export function watchStandardOutput(drains: () => boolean): void {
  let failed = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (failed) return;
    failed = true;
    const isLeft = error.code === 'EPIPE';
    if (!isLeft) process.stderr.write(`${new OutputError(standardOutput, error).message}\n`);
    if (!drains()) process.exit(isLeft ? 0 : 1);
    if (isLeft) return;
    process.on('exit', (code) => {
      if (code === 0) process.exitCode = 1;
    });
  });
}

/** A command goes on when its notes cannot be written: a log on a full disk must not put what is being sent in doubt. */
export function surviveUnwritableNotes(): void {
  process.stderr.on('error', () => undefined);
}
