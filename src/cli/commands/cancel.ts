import type { Command } from 'commander';
import { cancel } from '../../engine/runs/stop-run.ts';
import type { Shell } from '../shell.ts';
import { stopCommand } from '../stop-command.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Ends a run for good, whatever process is sending it: what is not sent by now never is, and what is on its way is recorded.',
  );
  stopCommand(command, shell, cancel, 'cancelled by an operator');
}
