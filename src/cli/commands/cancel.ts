import type { Command } from 'commander';
import { cancel } from '../../engine/runs/stop-run.ts';
import type { Shell } from '../shell.ts';
import { stopCommand } from '../stop-command.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Ends a run for good, in whichever process sends it. Requests that are not sent yet are never sent. Answers to requests in flight are recorded.',
  );
  stopCommand(command, shell, cancel, 'cancelled by an operator');
}
