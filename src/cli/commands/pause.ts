import type { Command } from 'commander';
import { pause } from '../../engine/runs/stop-run.ts';
import type { Shell } from '../shell.ts';
import { stopCommand } from '../stop-command.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Pauses a run, in whichever process sends it. No further request is sent, and answers to requests in flight are recorded. `volley resume` continues it.',
  );
  stopCommand(command, shell, pause, 'paused by an operator');
}
