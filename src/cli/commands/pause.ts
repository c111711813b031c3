import type { Command } from 'commander';
import { pause } from '../../engine/runs/stop-run.ts';
import type { Shell } from '../shell.ts';
import { stopCommand } from '../stop-command.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Pauses a run, whatever process is sending it: nothing more is sent from now on, and what is on its way is recorded. `volley resume` goes on.',
  );
  stopCommand(command, shell, pause, 'paused by an operator');
}
