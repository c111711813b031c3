import { resolve } from 'node:path';
import type { Command } from 'commander';
import { InputError } from '../../domain/problems.ts';
import { findProject, markProject, projectMarker } from '../../platform/project.ts';
import { type Shell, withNewLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      `Makes a folder a Volley project: marks it (${projectMarker}), makes campaigns/ in it, and makes a new, empty ledger. The ledger is in .volley/, or in the database of DATABASE_URL. Existing files and ledgers stay unchanged.`,
    )
    .argument('[folder]', 'the folder of the project; the working folder by default')
    .option('--json', 'print what was made as JSON')
    .action(async (named: string | undefined, { json }: { json?: true }) => {
      const { workingFolder } = shell.settings;
      if (named === undefined) refuseInside(workingFolder);
      const folder = resolve(workingFolder, named ?? '.');
      const { made } = markProject(folder);
      const { environment } = shell.settings;
      const projectShell = { ...shell, settings: { environment, workingFolder: folder } };
      const ledger = await withNewLedger(projectShell, async (_, { description, created: isNew }) => {
        return { description, made: isNew };
      });
      if (json) {
        shell.print(JSON.stringify({ project: folder, made, ledger }));
        return;
      }
      shell.print(`${folder} is a Volley project.`);
      if (!ledger.made) shell.print(`Its ledger existed already: ${ledger.description}.`);
    });
}

/** Commands in a project inside a project would silently use the second ledger. */
function refuseInside(workingFolder: string): void {
  const project = findProject(workingFolder);
  if (project === undefined || project === workingFolder) return;
  const what = `is inside the project ${project}, and commands here use its ledger. To make a separate project with an empty ledger, name the folder: \`volley init .\`.`;
  throw new InputError([{ where: workingFolder, what }]);
}
