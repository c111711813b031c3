import { pause } from '../../engine/runs/stop-run.ts';
import type { Shell } from '../shell.ts';
import { type StopOptions, stopAndPrint } from '../stop-and-print.ts';

export async function pauseAction(shell: Shell, name: string, options: StopOptions): Promise<void> {
  await stopAndPrint(shell, name, options, pause);
}
